package recipe

import (
	"slices"
	"strings"
)

// The flags of `docker run` that are the driver's: identity, mounts, network, user, devices, isolation.
var (
	ownedDockerLong = []string{
		"--name", "--entrypoint", "--volume", "--mount", "--env-file", "--network", "--net", "--user", "--ipc",
		"--shm-size", "--rm", "--device", "--group-add", "--security-opt", "--detach",
	}
	dockerSwitches = []string{ // long flags without a value
		"--init", "--interactive", "--no-healthcheck", "--oom-kill-disable", "--privileged", "--publish-all",
		"--quiet", "--read-only", "--sig-proxy", "--tty",
	}
)

const (
	ownedDockerShort  = "vud"
	dockerShortSwitch = "diPqt" // short flags without a value; they may stand in a cluster
	dockerShortValue  = "acehlmpuvw"
)

// dockerFlags finds the arguments that are not the recipe's to give to docker: owned flags, also inside
// clusters (-dit, -u0:0, -v/x:/y), protected variables (-e=N=v, -ieN=v), and what is no flag at all,
// because docker would take it for the image.
func dockerFlags(args []string, protected func(variable string) string) []refusal {
	var found []refusal
	for i := 0; i < len(args); i++ {
		arg := args[i]
		next := func() string {
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return ""
		}
		at := i
		refuse := func(message, hint string) { found = append(found, refusal{at, message, hint}) }
		variable := func(assignment string) {
			name, _, _ := strings.Cut(assignment, "=")
			if why := protected(name); why != "" {
				refuse("variable "+name+" is protected: "+why, "remove it")
			}
		}
		switch {
		case strings.HasPrefix(arg, "--") && len(arg) > 2:
			flag, value, joined := strings.Cut(arg, "=")
			switch {
			case slices.Contains(ownedDockerLong, flag):
				refuse(flag+" is set by the docker driver", "remove it")
			case flag == "--env" && joined:
				variable(value)
			case flag == "--env":
				variable(next())
			case !joined && !slices.Contains(dockerSwitches, flag):
				skipValue(args, &i)
			}
		case strings.HasPrefix(arg, "-") && len(arg) > 1 && arg != "--":
			flag, value := cluster(arg[1:])
			switch {
			case flag == 0:
				refuse(arg+" is not a flag of docker run", "check its spelling")
			case strings.ContainsRune(ownedDockerShort, rune(flag)):
				refuse("-"+string(flag)+" is set by the docker driver", "remove it")
			case flag == 'e' && value != "":
				variable(value)
			case flag == 'e':
				variable(next())
			case strings.ContainsRune(dockerShortValue, rune(flag)) && value == "":
				skipValue(args, &i)
			}
		default:
			refuse(strings.TrimSpace(arg+" ")+" is not a flag; docker would take it for the image", "join a value to its flag, as in --flag=value")
		}
	}
	return found
}

// skipValue steps over the value of a flag, unless it looks like a flag itself: that is looked at.
func skipValue(args []string, i *int) {
	if *i+1 < len(args) && !strings.HasPrefix(args[*i+1], "-") {
		*i++
	}
}

// cluster reads a cluster of short flags: the first that is owned or takes a value, with the value
// joined to it; the last otherwise; 0 when one is unknown.
func cluster(letters string) (flag byte, value string) {
	for i := range len(letters) {
		flag = letters[i]
		switch {
		case strings.IndexByte(ownedDockerShort, flag) >= 0, strings.IndexByte(dockerShortValue, flag) >= 0:
			return flag, strings.TrimPrefix(letters[i+1:], "=")
		case strings.IndexByte(dockerShortSwitch, flag) < 0:
			return 0, ""
		}
	}
	return flag, ""
}
