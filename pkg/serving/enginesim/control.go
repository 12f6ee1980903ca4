package enginesim

import (
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// serveControl answers the control port until l is closed. It is seldom asked
// and never timed, so net/http serves it.
func (s *Server) serveControl(l net.Listener) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		status, body := s.readiness()
		writeJSON(w, status, json.RawMessage(body))
	})
	mux.HandleFunc("GET /health_generate", func(w http.ResponseWriter, _ *http.Request) {
		// A constant in the engine too: it proves nothing.
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /get_server_info", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, s.info())
	})
	mux.HandleFunc("GET /v1/loads", func(w http.ResponseWriter, _ *http.Request) {
		running, waiting := s.queue.load()
		writeJSON(w, http.StatusOK, map[string]int{"num_reqs": running + waiting, "num_waiting_reqs": waiting})
	})
	flush := func(w http.ResponseWriter, _ *http.Request) {
		blocks := 0
		if s.cache != nil {
			blocks = s.cache.flush()
		}
		writeJSON(w, http.StatusOK, map[string]any{"success": true, "blocks_flushed": blocks})
	}
	mux.HandleFunc("GET /flush_cache", flush)
	mux.HandleFunc("POST /flush_cache", flush)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) // always ends with an error, that of being closed
	return server
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have gone
}

// info is what /get_server_info tells: the settings in force and the counts.
func (s *Server) info() map[string]any {
	settings := map[string]string{}
	for _, one := range s.profile.settings() {
		settings[one.key()] = one.value.String()
	}
	running, waiting := s.queue.load()
	sum := s.Summary()
	return map[string]any{
		"engine": "engine-sim", "model_path": s.model, "served_model_name": s.name,
		"settings": settings, "num_reqs": running + waiting, "num_waiting_reqs": waiting,
		"requests": sum.Requests, "peak_in_flight": sum.PeakInFlight,
	}
}
