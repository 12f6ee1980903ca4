package bless

import (
	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
)

// windowText is the windows that a refresh looked at, as Markdown.
func (r *refresher) windowText(rep *window.Report) string {
	text := rep.Text(func(key baseline.Key) bool { return r.seen[key] && r.scope.entry(key.Entry) })
	return "\n### Windows\n\n```text\n" + text + "```\n"
}
