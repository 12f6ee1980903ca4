package night

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// defaultCommand is the reference's sweep.
const defaultCommand = "aorta sweep run --recipe {recipe} --output-dir {dir} --strict"

// template is a command line split into arguments once; no shell ever sees it.
type template []string

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// parseTemplate splits a command line as a shell would and checks its placeholders, the only thing that
// is ever expanded in it.
func parseTemplate(line string) (template, error) {
	args, err := recipe.SplitWords(line)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return nil, errors.New("the command is empty")
	}
	found := map[string]bool{}
	for _, arg := range args {
		for _, p := range placeholder.FindAllString(arg, -1) {
			if p != "{recipe}" && p != "{dir}" && p != "{entry}" {
				return nil, fmt.Errorf("%s is no placeholder: there are {recipe}, {dir} and {entry}", p)
			}
			found[p] = true
		}
	}
	if !found["{recipe}"] || !found["{dir}"] {
		return nil, errors.New("the command must name {recipe} and {dir}, or it could not know what to run and where to leave matrix.json")
	}
	return args, nil
}

// fill puts an entry into the template's placeholders, argument by argument.
func (t template) fill(e *matrix.Entry, dir string) []string {
	values := strings.NewReplacer("{recipe}", e.Recipe, "{dir}", dir, "{entry}", e.Name)
	args := make([]string, len(t))
	for i, arg := range t {
		args[i] = values.Replace(arg)
	}
	return args
}

// argv is the command of an entry. A serving recipe is run by serve-cell; anything else by the
// template, under torchrun where the entry asks for processes.
func (n *night) argv(e *matrix.Entry, r *recipe.Recipe, dir string) ([]string, error) {
	if r.Workload == recipe.Serving {
		bin, err := n.find("serve-cell", n.beside)
		if err != nil {
			return nil, err
		}
		return append([]string{bin, "--recipe", e.Recipe, "--output-dir", dir, "--strict"}, n.serveArgs...), nil
	}
	args := n.command.fill(e, dir)
	if e.Nproc > 0 {
		// The program need not be Python, so torchrun is told to start it as it is.
		args = append([]string{"torchrun", "--standalone", fmt.Sprintf("--nproc_per_node=%d", e.Nproc), "--no-python"}, args...)
	}
	bin, err := n.find(args[0], "")
	if err != nil {
		return nil, err
	}
	args[0] = bin
	return args, nil
}

// find looks for a program: by its path from the root, beside this one, or on PATH.
func (n *night) find(name, beside string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		path := n.Path(name)
		if err := executable(path); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return path, nil
	}
	folders := filepath.SplitList(n.Getenv("PATH"))
	if beside != "" {
		folders = append([]string{beside}, folders...)
	}
	for _, folder := range folders {
		// A relative folder on PATH would find what happens to lie in the working directory.
		if path := filepath.Join(folder, name); filepath.IsAbs(path) && executable(path) == nil {
			return path, nil
		}
	}
	if beside != "" {
		return "", fmt.Errorf("%s is neither beside nightly-eval nor on PATH", name)
	}
	return "", fmt.Errorf("%s is not on PATH", name)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such program")
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return errors.New("it is no executable file")
	}
	return nil
}
