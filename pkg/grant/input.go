package grant

import (
	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// The inputs of every door that may use the socket.
var (
	SocketInput = step.Input{Name: "docker-socket", Kind: step.Bool, Help: "Asks for the Docker daemon's socket. In a job the lane must be signed off for it; outside a job, by hand, this flag is the operator's own grant."}
	LaneInput   = step.Input{Name: "lane", Kind: step.String, Arg: "FILE#JOB", Help: "The socket lane that this job claims to be: the workflow that the event starts and its job, such as nightly-eval.yml#eval."}
	LanesInput  = step.Input{Name: "lanes", Kind: step.Path, Arg: "FILE", Default: DefaultPath, Help: "The list of socket lanes, a file of the repository. In a job it is read from the default branch as fetched, not from the checkout."}
)

// Of checks the claim of a step that has the inputs of this package.
func Of(s *step.Step) error {
	return Check(Claim{s.In.Bool(SocketInput.Name), s.In.String(LaneInput.Name), s.In.String(LanesInput.Name)}, s.Job(), gitrepo.At(s.Root()))
}
