package store_test

import (
	"os"
	"strings"
	"testing"

	"backstop/store/storetest/rgwtest"
)

// TestMain hides this machine's AWS configuration from the tests: none may
// depend on it, and none may use its credentials.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID":           "testkey",
		"AWS_SECRET_ACCESS_KEY":       "testsecret",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED":   "true",
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	rgwtest.Stop()
	os.Exit(code)
}
