package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/collector"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

type contributeFlags struct {
	x                    []float64
	y                    float64
	invitation, file, ca string
	budget               publish.Budget
	epsilon, delta       float64
	maxEpsilon, maxDelta float64
	patience             time.Duration
	again, asJSON        bool
}

func contributeCommand() *cobra.Command {
	var c contributeFlags
	cmd := &cobra.Command{
		Use:   "contribute URL STREAM",
		Short: "Send one private report about your (x, y) to a collector",
		Long: `Fetches the model, takes the gradient at your (x, y), adds noise on this machine, and sends
only the noisy gradient. Your own ledger is debited before the noise is drawn. The report is kept in
a file until the collector has it: when the call fails half-way, call it again, and the same
report is sent, at no further cost. Before anything is spent it is asked whether the stream takes
reports, also with your invitation, and x outside the published domain is refused (the library's
client, which has nobody to ask, takes it to the nearest point). A second report about the same
stream spends a second time: that needs --again, and room under your ledger's cap if it has one.
What was spent, now and in all, is printed. Without --x and --y one line "x,y" is read from standard
input, which other users of this machine cannot see.`,
		Example: `  curveil contribute http://127.0.0.1:8808 demo --x 0.3 --y 1.2
  echo 0.3,1.2 | curveil contribute https://collector.example heights --invitation curveil-invitation-… --max-epsilon 1`,
		Args: exactArgs(2, "the collector's address and the name of a stream"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd, args[0], args[1])
		},
	}
	f := cmd.Flags()
	f.Float64SliceVar(&c.x, "x", nil, "your x; x1,x2,… for several variables")
	f.Float64Var(&c.y, "y", 0, "your y")
	f.StringVar(&c.invitation, "invitation", os.Getenv("CURVEIL_INVITATION"), "invitation, where the stream wants one (environment: CURVEIL_INVITATION)")
	f.StringVar(&c.ca, "ca", "", "file with the certificates (PEM) that vouch for the collector's, besides those of this machine")
	f.StringVar(&c.file, "report", "", "file that keeps the report until the collector has it (default: STREAM.report.json)")
	f.Float64Var(&c.epsilon, "epsilon", 0, "your own, smaller ε, in a stream that accepts mixed budgets; with --delta")
	f.Float64Var(&c.delta, "delta", 0, "your own δ")
	f.Float64Var(&c.maxEpsilon, "max-epsilon", 0, "refuse a stream that asks for a larger ε (default: no ceiling)")
	f.Float64Var(&c.maxDelta, "max-delta", 0, "refuse a stream that asks for a larger δ")
	f.BoolVar(&c.again, "again", false, "spend once more on a stream that you have spent on, or if the report comes too late")
	f.DurationVar(&c.patience, "patience", time.Minute, "how long to go on trying")
	c.budget.Register(f)
	c.budget.RegisterDry(f)
	f.Lookup("dry-run").Usage = "ask the collector and check everything, say what would be spent; spend and send nothing"
	f.Lookup("dataset").Usage = "name of your data in your ledger (default: the stream's name)"
	addJSON(cmd, &c.asJSON)
	return cmd
}

func (c *contributeFlags) run(cmd *cobra.Command, address, stream string) error {
	remote, err := collector.NewRemote(address, stream)
	if err != nil {
		return usageError{err}
	}
	if c.patience <= 0 {
		return usagef("--patience %v must be longer than nothing, such as 1m", c.patience)
	}
	remote.Invitation, remote.Patience = c.invitation, c.patience
	if remote.HTTP, err = c.http(); err != nil {
		return err
	}
	if c.file == "" {
		c.file = stream + ".report.json"
	}
	if exists(c.file) {
		if c.budget.Dry {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "dry run: nothing was spent and nothing sent; the call would send the report kept in %s, at no cost\n", c.file)
			return err
		}
		return c.resend(cmd, remote)
	}
	if err := publish.CheckCopy(c.file, false); err != nil {
		return err
	}
	x, y, err := c.point(cmd)
	if err != nil {
		return err
	}
	for _, v := range append(slices.Clone(x), y) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return usagef("your x and y must be numbers, found %v", v)
		}
	}
	config, err := c.terms(cmd)
	if err != nil {
		return err
	}
	// Whatever stands against a report is found before the ledger is asked.
	summary, err := remote.Check(cmd.Context())
	if err != nil {
		return c.unreachable(err, address, stream)
	}
	model, err := remote.Model(cmd.Context())
	if err != nil {
		return c.unreachable(err, address, stream)
	}
	if err := model.Stream.Inside(x); err != nil {
		return usageError{err}
	}
	for _, w := range model.Stream.Warnings(summary.Expected()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: %s\n", w)
	}
	if c.budget.Dataset == "" {
		c.budget.Dataset = stream
	}
	book, err := c.budget.Open(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if book != nil {
		defer book.Close()
	}
	account := &reportLedger{Person: c.budget.Person(book), book: book, dataset: c.budget.Dataset, again: c.again, stderr: cmd.ErrOrStderr()}
	config.Ledger = account
	client, err := regression.NewClient(model, config)
	if err != nil {
		return err
	}
	if c.budget.Dry {
		return account.rehearse(cmd, &c.budget, model, config.Budget)
	}
	asked, then := model.Stream.Budget, "; the stream takes reports at its own ε and δ only, so it is the cap, or no report"
	if config.Budget != (privacy.Approx{}) {
		asked = config.Budget
	}
	if model.Stream.Mixed {
		then = ": --epsilon and --delta ask for it"
	}
	receipt, err := remote.Contribute(cmd.Context(), client, x, y, func(report []byte) error { return c.keep(cmd.ErrOrStderr(), report) })
	if err != nil {
		if len(account.spent) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "curveil: %s\n", account.account(cmd.Context()).words)
		}
		return c.failed(inEpsilon(err, asked.Delta, then))
	}
	return c.done(cmd, receipt, account.account(cmd.Context()))
}

// keep stores a report that is paid for, elsewhere where its file cannot be written. One that can be stored nowhere is sent all the
// same: that is what it was paid for.
func (c *contributeFlags) keep(stderr io.Writer, report []byte) error {
	err := publish.File(c.file, report)
	if err == nil {
		return nil
	}
	path, lost := c.budget.Rescue(report, ".report.json")
	if lost != nil {
		fmt.Fprintf(stderr, "curveil: WARNING: the report could not be kept in %s (%v), nor elsewhere (%v): it is sent all the same\n", c.file, err, lost)
		return nil
	}
	fmt.Fprintf(stderr, "curveil: WARNING: the report could not be kept in %s (%v): it is kept in %s, and --report %s sends it again\n", c.file, err, path, path)
	c.file = path
	return nil
}

// http trusts what this machine trusts, and --ca.
func (c *contributeFlags) http() (*http.Client, error) {
	if c.ca == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.ca)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w: give the file with the certificate that vouches for the collector's, as PEM", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca %s: it holds no certificate (%s): give the file that begins with -----BEGIN CERTIFICATE-----", c.ca, found(pemBlocks(text)))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport, Timeout: collector.RemoteTimeout}, nil
}

// unreachable says what to do about a collector that does not answer, or whose certificate nobody here vouches for. No report has been
// made.
func (c *contributeFlags) unreachable(err error, address, stream string) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: nothing was spent; if the collector's certificate is its owner's own, get the file from them in a way that you trust and give it as --ca", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w: nothing was spent; use the address that the certificate names", err)
	}
	if words := silence(err); words != "" {
		return fmt.Errorf("%s; nothing was spent", words)
	}
	var p *collector.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return fmt.Errorf("no stream %q at %s: its first page, opened in a browser, lists the streams", stream, address)
	}
	return fmt.Errorf("%w; nothing was spent", err)
}

// silence says in words why no collector answered; "" for errors of other kinds.
func silence(err error) string {
	var call *url.Error
	if !errors.As(err, &call) || errors.Is(err, context.Canceled) {
		return ""
	}
	at := call.URL
	if u, err := url.Parse(call.URL); err == nil {
		at = u.Scheme + "://" + u.Host
	}
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing answers at %s (connection refused): is 'curveil serve' running there, and is the port the one that it printed?", at)
	case errors.As(err, &name):
		return fmt.Sprintf("no machine of the name %s was found, for %s: check the address, and that this machine is connected", name.Name, at)
	case call.Timeout():
		return fmt.Sprintf("%s does not answer in time: check the address, and that nothing in between blocks it", at)
	}
	return fmt.Sprintf("%s gives no answer that makes sense (%v): check the address, also whether it begins with http or https", at, call.Err)
}

// resend sends the report that an earlier call has left.
func (c *contributeFlags) resend(cmd *cobra.Command, remote *collector.Remote) error {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return err
	}
	var r regression.Report
	if err := r.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("%s: %w: move it away to make a new report, which costs budget again", c.file, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "curveil: sending the report kept in %s; --x and --y are not looked at\n", c.file)
	receipt, err := remote.SendBytes(cmd.Context(), text)
	if err != nil {
		return c.failed(err)
	}
	return c.done(cmd, receipt, (&reportLedger{}).account(cmd.Context()))
}

// failed says what became of the report that was made, if one was.
func (c *contributeFlags) failed(err error) error {
	var conflict *collector.Conflict
	var p *collector.Problem
	errors.As(err, &p)
	switch {
	case !exists(c.file):
		return err
	case errors.As(err, &conflict) && conflict.Problem.Reason == string(regression.OtherStream):
		return fmt.Errorf("%w; the report in %s is paid for and may be good at another collector, so it is kept: --report FILE is for reports of this stream", err, c.file)
	case errors.As(err, &conflict):
		// It will never be taken, so it is not kept.
		if errors.Is(err, errAgain) {
			err = fmt.Errorf("%w: the report came too late; %v", conflict, errAgain)
		} else {
			err = fmt.Errorf("%w: the report came too late, and making another costs budget again (--again)", err)
		}
		return errors.Join(err, os.Remove(c.file))
	case p != nil && strings.HasPrefix(p.Reason, "invitation-"):
		return fmt.Errorf("%w (the report is kept in %s: call again with a good invitation to send the same one, at no cost, while it is not too old)", err, c.file)
	case p != nil && p.Status < 500 && p.Status != 429:
		return fmt.Errorf("%w (the report is kept in %s)", err, c.file)
	}
	if words := silence(err); words != "" {
		return fmt.Errorf("%s; the report is made and paid for, and may have arrived: it is kept in %s; call again to send the same one, at no cost", words, c.file)
	}
	return fmt.Errorf("%w; the report is kept in %s: call again to send it", err, c.file)
}

func (c *contributeFlags) done(cmd *cobra.Command, receipt collector.Receipt, cost spending) error {
	if err := os.Remove(c.file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the collector has the report, but its file remains: %w", err)
	}
	if c.asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			collector.Receipt
			spending
		}{receipt, cost})
	}
	what := "contributed"
	if receipt.Repeated {
		what = "the collector had the report already"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s; the curve stands at %s\n%s\n", what, plural(receipt.At, "report"), cost.words)
	return err
}

// point is from the flags, or from one line of standard input.
func (c *contributeFlags) point(cmd *cobra.Command) (x []float64, y float64, err error) {
	if cmd.Flags().Changed("x") != cmd.Flags().Changed("y") {
		return nil, 0, usagef("--x and --y go together")
	}
	if cmd.Flags().Changed("x") {
		return c.x, c.y, nil
	}
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	if strings.TrimSpace(line) == "" {
		return nil, 0, usagef("give --x and --y, or a line \"x,y\" on standard input")
	}
	values, err := flags.List("standard input", line)
	if err != nil || len(values) < 2 {
		return nil, 0, usagef("standard input: want one line \"x,y\", numbers with a decimal point")
	}
	return values[:len(values)-1], values[len(values)-1], nil
}

func (c *contributeFlags) terms(cmd *cobra.Command) (regression.ClientConfig, error) {
	var out regression.ClientConfig
	f := cmd.Flags()
	if f.Changed("epsilon") != f.Changed("delta") || f.Changed("max-epsilon") != f.Changed("max-delta") && f.Changed("max-delta") {
		return out, usagef("--epsilon and --delta go together, and --max-delta needs --max-epsilon")
	}
	for _, name := range []string{"max-epsilon", "max-delta"} { // a ceiling that is no number would be none
		v, err := f.GetFloat64(name)
		if err == nil && f.Changed(name) && !(v > 0 && !math.IsInf(v, 0)) {
			return out, usagef("--%s %v must be a number above 0", name, v)
		}
	}
	if f.Changed("epsilon") {
		out.Budget = privacy.Approx{Epsilon: c.epsilon, Delta: c.delta}
		if err := out.Budget.Validate(); err != nil {
			return out, usageError{err}
		}
	}
	if f.Changed("max-epsilon") {
		out.Ceiling = privacy.Approx{Epsilon: c.maxEpsilon, Delta: 1}
		if f.Changed("max-delta") {
			out.Ceiling.Delta = c.maxDelta
		}
	}
	return out, nil
}
