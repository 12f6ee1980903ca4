package ghapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"
)

// AccessError says that the token may not do or see something. Asking again does not help.
type AccessError struct {
	// Doing is what was tried, such as "listing runners of own/rep".
	Doing string

	// Permission is what the token lacks, such as "administration: read", as far as that is known.
	Permission string

	// Status is the HTTP status of the refusal: 401, 403 or 404 (GitHub hides what a token may not see).
	Status int

	// Message is GitHub's own sentence.
	Message string
}

func (e *AccessError) Error() string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return fmt.Sprintf("%s: GitHub does not accept the token (%s)", e.Doing, e.Message)
	case e.Status == http.StatusNotFound:
		return fmt.Sprintf("%s: it does not exist, or the token cannot see it; seeing it takes the permission %s", e.Doing, e.Permission)
	}
	return fmt.Sprintf("%s: the token lacks the permission %s (%s)", e.Doing, e.Permission, e.Message)
}

// IsAccess reports whether err is a refusal for lack of permission.
func IsAccess(err error) bool {
	var access *AccessError
	return errors.As(err, &access)
}

// refused turns an error of go-github into one that says what was done, what permission it takes, and
// nothing that is secret.
func refused(doing, permission string, err error) error {
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		code := answer.Response.StatusCode
		switch code {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			if accepted := answer.Response.Header.Get("X-Accepted-Github-Permissions"); accepted != "" {
				permission = accepted
			}
			return &AccessError{Doing: doing, Permission: permission, Status: code, Message: answer.Message}
		}
		return fmt.Errorf("%s: GitHub answered %d: %s", doing, code, orUnsaid(answer.Message))
	}
	return fmt.Errorf("%s: %w", doing, withoutQuery(err))
}

func orUnsaid(message string) string {
	if message == "" {
		return "it gave no reason"
	}
	return message
}

// withoutQuery takes the query out of a transport error's URL: that of a storage host is a signature,
// which opens the file for whoever reads the log.
func withoutQuery(err error) error {
	var transport *url.Error
	if !errors.As(err, &transport) {
		return err
	}
	var limit *LimitError
	if errors.As(err, &limit) {
		return limit
	}
	where := "GitHub"
	if u, parseErr := url.Parse(transport.URL); parseErr == nil {
		where = u.Scheme + "://" + u.Host
	}
	return fmt.Errorf("asking %s: %w", where, transport.Err)
}
