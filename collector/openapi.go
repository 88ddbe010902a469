package collector

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// documented adds to the API's description what the handlers decode themselves.
func documented(api huma.API) {
	o := api.OpenAPI()
	o.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"admin":      {Type: "http", Scheme: "bearer", Description: "the admin token, printed when the collector first starts"},
		"invitation": {Type: "http", Scheme: "bearer", Description: "an invitation, good for one report"},
	}
	number := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber, Description: doc} }
	whole := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeInteger, Description: doc} }
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	yes := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean, Description: doc} }
	list := func(of *huma.Schema, doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeArray, Items: of, Description: doc}
	}
	schemas := o.Components.Schemas.Map()
	schemas["Report"] = &huma.Schema{Type: huma.TypeObject, Description: "a noisy gradient, made on a person's device; docs/format.md",
		Required: []string{"curveil", "version", "id", "stream", "at", "epsilon", "delta", "private", "coordinates"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"curveil": {Type: huma.TypeString, Enum: []any{"regression-report"}}, "version": {Type: huma.TypeInteger, Enum: []any{1}},
			"id": text("32 hexadecimal digits, drawn by the device"), "stream": text("fingerprint of the stream"), "at": whole("version of the model that the gradient was taken at"),
			"epsilon": number("ε of this report"), "delta": number("δ of this report"), "private": yes("false when the noise came from a seeded source"),
			"coordinates": list(whole(""), "in steps of the stream's lattice")}}
	schemas["Batch"] = &huma.Schema{Type: huma.TypeObject, Required: []string{"reports"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"reports":     list(&huma.Schema{Ref: "#/components/schemas/Report"}, "up to 10,000 reports of different people"),
		"invitations": list(text(""), "one for each report, where the stream wants them")}}
	one, most, longest := 1.0, float64(maxInvitations), float64(mostHours)
	schemas["Invitations"] = &huma.Schema{Type: huma.TypeObject, Required: []string{"count"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"count": {Type: huma.TypeInteger, Minimum: &one, Maximum: &most, Description: "how many"},
		"hours": {Type: huma.TypeInteger, Minimum: &one, Maximum: &longest, Default: usualHours, Description: "how long they are good"}}}
	schemas["Opening"] = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false,
		Description: "a stream in the short form, or in the full one of docs/collector.md under \"stream\"",
		Properties: map[string]*huma.Schema{
			"stream": {Type: huma.TypeObject, Description: "the full form, in place of the fields up to y_label"}, "name": text("a-z, 0-9, dot, dash, underscore"),
			"space": text("such as kernel:gauss:20%, kernel:matern32:0.2, legendre:6"), "domain": list(number(""), "[a, b] of x"),
			"tau": number("τ of the Huber loss, in units of y; from public data or a guess"), "bound": number("B; default: the largest feature"), "center": number("public guess of y's level"),
			"epsilon": number("ε of one report"), "delta": number("δ of one report"), "calibration": text("analytic or classical"), "mixed": yes("accept reports with smaller budgets"),
			"staleness": whole("versions a report may be old"), "radius": number("bound on the curve's norm"), "unit": text("who is protected"), "x_label": text(""), "y_label": text(""),
			"steps":      {Type: huma.TypeObject, Properties: map[string]*huma.Schema{"gamma0": number(""), "exponent": number(""), "horizon": whole("0 for decaying steps")}},
			"smoothness": number("of the curve, in (0, 1], for the default steps: 1, the default, or 0.5 for features as narrow as the kernel"),
			"people":     whole("number expected"), "quota": whole("reports after which the stream takes no more"), "invitations": yes("a report needs an invitation"), "demonstration": yes("accept seeded noise")}}
}

// completed mends and completes the description once the operations are in it.
func completed(api huma.API) {
	o := api.OpenAPI()
	errorOf := func(doc string) *huma.Response {
		return &huma.Response{Description: doc, Content: map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/ErrorModel"}}}}
	}
	for _, path := range o.Paths {
		if path.Post != nil && path.Post.RequestBody != nil {
			delete(path.Post.RequestBody.Content, "application/octet-stream") // huma's word for a body that the handler decodes
		}
	}
	longest := 64
	o.AddOperation(&huma.Operation{OperationID: "get-events", Method: http.MethodGet, Path: "/v1/streams/{name}/events", Summary: "The curve, as it changes", Tags: []string{"public"},
		Description: "Server-sent events of the type curve, with the version as id, now and after changes, a few a second at most; the live page draws them.",
		Parameters:  []*huma.Param{{Name: "name", In: "path", Required: true, Description: "name of the stream", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &longest}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "events until the client goes", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"404": errorOf("Not Found"), "429": errorOf("Too Many Requests"), "503": errorOf("Service Unavailable")}})
}

// jsonBody is the description of a body that the handler decodes.
func jsonBody(_ huma.API, schema string) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}}
}
