package density

import "github.com/curveil/curveil/privacy"

// Statement is what a release of this configuration guarantees, to whom.
func (c Config) Statement() privacy.Statement { return c.statement() }
