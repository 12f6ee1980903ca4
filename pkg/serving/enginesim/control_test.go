package enginesim

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

func statusOf(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func getJSON(t *testing.T, url string) map[string]any {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: status %d, %v", url, resp.StatusCode, err)
	}
	return v
}

func TestStartup(t *testing.T) {
	p := quick()
	p.Startup = 300 * time.Millisecond
	s := launch(t, p)
	if got := statusOf(t, s.ControlURL()+"/health"); got != 503 {
		t.Errorf("health while starting: got %d, want 503", got)
	}
	if got := statusOf(t, s.ControlURL()+"/health_generate"); got != 200 {
		t.Errorf("health_generate while starting: got %d, want its constant 200", got)
	}
	<-s.Ready()
	if got := statusOf(t, s.ControlURL()+"/health"); got != 200 {
		t.Errorf("health when ready: got %d, want 200", got)
	}
}

func TestControlPort(t *testing.T) {
	p := quick()
	p.TTFT = time.Hour
	p.MaxRunning = 2
	s := launch(t, p)
	for range 5 {
		c := s.dial()
		c.Write([]byte(post(completionsPath, streamBody)))
	}
	eventually(t, "two run and three wait", func() bool {
		v := getJSON(t, s.ControlURL()+"/v1/loads")
		return v["num_reqs"] == 5.0 && v["num_waiting_reqs"] == 3.0
	})
	info := getJSON(t, s.ControlURL()+"/get_server_info")
	if info["served_model_name"] != "m" || info["settings"].(map[string]any)["max_running_requests"] != "2" {
		t.Errorf("got %v, want model and settings", info)
	}
	if got := statusOf(t, s.ControlURL()+"/metrics"); got != 404 {
		t.Errorf("unknown path: got %d, want 404", got)
	}
}

func TestPrefixCache(t *testing.T) {
	p := quick()
	p.BlockSize, p.PrefillPerToken = 2, time.Millisecond
	s := launchConfig(t, Config{Model: "m", Profile: p, CacheReport: true})
	cached := func(prompt string) int {
		a := s.ask(completionsPath, `{"model":"m","max_tokens":1,"prompt":`+prompt+`}`)
		var c chunk
		if err := json.Unmarshal([]byte(a.body), &c); err != nil || c.Usage == nil || c.Usage.Details == nil {
			t.Fatalf("got %s, want cached tokens in usage", a.body)
		}
		return c.Usage.Details.CachedTokens
	}
	for _, tt := range []struct {
		prompt string
		want   int
	}{
		{"[1,2,3,4,5]", 0},
		{"[1,2,3,4,5]", 4},
		{"[1,2,3,4]", 2}, // the last token is always computed
		{"[1,2,3,9,5]", 2},
		{"[3,4,5]", 0}, // no prefix
		{`"a b c"`, 0},
		{`"a b d"`, 2},
	} {
		if got := cached(tt.prompt); got != tt.want {
			t.Errorf("prompt %s: got %d cached tokens, want %d", tt.prompt, got, tt.want)
		}
	}
	if got := getJSON(t, s.ControlURL()+"/flush_cache")["blocks_flushed"]; got == 0.0 {
		t.Error("got no blocks flushed")
	}
	if got := cached("[1,2,3,4,5]"); got != 0 {
		t.Errorf("after the flush: got %d cached tokens, want 0", got)
	}
	r := s.log().Records
	cold, warm := r[0].Writes[0].Due-r[0].Read, r[1].Writes[0].Due-r[1].Read
	if got, want := time.Duration(cold-warm), 4*time.Millisecond; got != want {
		t.Errorf("the warm answer is due %s earlier, want %s", got, want)
	}
}

func TestPrefixCacheLimit(t *testing.T) {
	c := newPrefixCache(1, 4)
	old := c.chain([]uint32{1, 2, 3})
	c.insert(old)
	c.insert(c.chain([]uint32{7, 8}))
	if got := c.flush(); got != 4 {
		t.Errorf("got %d blocks, want the limit of 4", got)
	}
	c.insert(old)
	c.insert(c.chain([]uint32{7, 8}))
	if got := c.match(old, 4); got != 0 {
		t.Errorf("got %d tokens matched, want 0: the oldest block, the first, is gone", got)
	}
}
