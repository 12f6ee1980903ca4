package enginesim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// selfTest streams one request from a server in this process and compares what
// arrived with what the send log says.
func selfTest(ctx context.Context, _ *step.Step) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	p := DefaultProfile()
	p.TTFT, p.ITL = 5*time.Millisecond, time.Millisecond
	var sent bytes.Buffer
	sim, err := Start(Config{Model: "self-test", Profile: p, ControlPort: -1, SendLog: &sent})
	if err != nil {
		return err
	}
	defer sim.Close()
	body, err := streamOnce(ctx, sim.URL(), 8)
	if err != nil {
		return err
	}
	if err := sim.Close(); err != nil {
		return err
	}
	log, err := ReadSendLog(&sent)
	if err != nil {
		return err
	}
	if len(log.Records) != 1 || log.Records[0].OutputTokens != 8 || log.Records[0].End != EndOK {
		return fmt.Errorf("the send log does not hold the one request of 8 tokens: %+v", log.Records)
	}
	if got := strings.Count(body, `"finish_reason"`); got != 8 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		return fmt.Errorf("8 events and [DONE] were sent, %d events arrived", got)
	}
	return nil
}

func streamOnce(ctx context.Context, url string, tokens int) (string, error) {
	body := fmt.Sprintf(`{"model":"self-test","prompt":"one two three","max_tokens":%d,"stream":true}`, tokens)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+completionsPath, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return string(all), err
}
