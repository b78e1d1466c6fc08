package edge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
)

// Config is everything that can be set from outside, by environment variables only. Enrolment adds edge.json in Home.
type Config struct {
	// Loopback address of the API for programs of this machine.
	Addr string `env:"EDGE_ADDR" envDefault:"127.0.0.1:3210"`
	// Browser pages that may follow this edge's events with its token, separated by commas: scheme://host[:port]. Default: none.
	Origins []string `env:"EDGE_ORIGINS"`
	// Folder of the edge's state: identity, journal, blobs, workspaces. Made with mode 0700; default: the user's data folder.
	Home string `env:"EDGE_HOME"`
	// Address of the hub. Default: the one that this edge was enrolled at.
	HubURL string `env:"EDGE_HUB_URL"`
	// Folder that scout reads. Default: the git repository that the edge was started in, else a folder of its own.
	Repository string `env:"EDGE_REPOSITORY"`
	// How many runs this edge works on at once. Others wait.
	Places int `env:"EDGE_PLACES" envDefault:"4"`
	// Bytes that journal and blobs may hold. At 95 % no new runs are taken, at 100 % agents wait for the hub to catch up.
	JournalCap int64 `env:"EDGE_JOURNAL_CAP" envDefault:"2147483648"`
	// How long committed rows of ended runs are kept, for a hub that is restored from a backup.
	ResendWindow time.Duration `env:"EDGE_RESEND_WINDOW" envDefault:"72h"`
	// Lowest level that is logged: debug, info, warn or error.
	LogLevel slog.Level `env:"EDGE_LOG_LEVEL" envDefault:"info"`
	// How long a stopping edge waits for its agents and for the hub to take the last rows.
	StopTimeout time.Duration `env:"EDGE_STOP_TIMEOUT" envDefault:"20s"`
}

// LoadConfig reads the configuration from environ (as os.Environ gives it). All faults are reported together.
func LoadConfig(environ []string) (Config, error) {
	var c Config
	vars := env.ToMap(environ)
	err := named(env.ParseWithOptions(&c, env.Options{Environment: vars}))
	if c.Home == "" {
		c.Home = defaultHome(vars)
	}
	for _, folder := range []*string{&c.Home, &c.Repository} {
		if *folder != "" {
			absolute, absErr := filepath.Abs(*folder)
			*folder, err = absolute, errors.Join(err, absErr)
		}
	}
	return c, errors.Join(err, c.check())
}

// named says of each value that could not be read which variable it is in.
func named(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var faults []error
	for _, fault := range all.Errors {
		var bad env.ParseError
		if errors.As(fault, &bad) {
			field, _ := reflect.TypeFor[Config]().FieldByName(bad.Name)
			fault = fmt.Errorf("%s: %w", field.Tag.Get("env"), bad.Err)
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

// defaultHome is the place for an edge in the user's data folder; empty if the user has no home.
func defaultHome(vars map[string]string) string {
	if data := vars["XDG_DATA_HOME"]; data != "" {
		return filepath.Join(data, "switchyard", "edge")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "switchyard", "edge")
	}
	return ""
}

const minJournal = 16 << 20 // bytes

func (c Config) check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if err := localapi.CheckAddr(c.Addr); err != nil {
		faults = append(faults, fmt.Errorf("EDGE_ADDR: %w", err))
	}
	for _, origin := range c.Origins {
		if _, err := localapi.ParseOrigin(origin); err != nil {
			faults = append(faults, fmt.Errorf("EDGE_ORIGINS: %w", err))
		}
	}
	if c.HubURL != "" {
		if _, err := uplink.ParseHubURL(c.HubURL); err != nil {
			faults = append(faults, fmt.Errorf("EDGE_HUB_URL: %w", err))
		}
	}
	fault(c.Home == "", "EDGE_HOME: must be set, because this user has no home folder")
	fault(c.Places < 1 || c.Places > 256, "EDGE_PLACES: want 1 to 256, not %d", c.Places)
	fault(c.JournalCap < minJournal, "EDGE_JOURNAL_CAP: want at least %d bytes", minJournal)
	fault(c.ResendWindow < 0, "EDGE_RESEND_WINDOW: must not be negative")
	fault(c.StopTimeout <= 0, "EDGE_STOP_TIMEOUT: must be positive")
	return errors.Join(faults...)
}

// trusted are the origins; check has found them good.
func (c Config) trusted() []localapi.Origin {
	var list []localapi.Origin
	for _, text := range c.Origins {
		if origin, err := localapi.ParseOrigin(text); err == nil {
			list = append(list, origin)
		}
	}
	return list
}

// Print writes the effective values, one NAME=value a line. None of them is a secret: the credential is in edge.json.
func (c Config) Print(w io.Writer) error {
	fields := reflect.TypeFor[Config]()
	values := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if _, err := fmt.Fprintf(w, "%s=%v\n", fields.Field(i).Tag.Get("env"), values.Field(i)); err != nil {
			return fmt.Errorf("print configuration: %w", err)
		}
	}
	return nil
}
