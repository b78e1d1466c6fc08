package testpg

import "errors"

// Serve starts a server for a program that is no test, and returns the address of its one, empty database. The caller stops it.
func Serve() (dsn string, stop func() error, err error) {
	where, err := findBinaries()
	if err != nil {
		return "", nil, err
	}
	s, err := startServer(where)
	if err != nil {
		return "", nil, err
	}
	const name = "served"
	if err := s.exec("CREATE DATABASE " + name); err != nil {
		return "", nil, errors.Join(err, s.stop())
	}
	return s.dsn(name), s.stop, nil
}
