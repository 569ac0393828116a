// Package child runs the real programs that tests are made against, so that none
// outlives the test binary, however that ends. Only tests import it.
package child
