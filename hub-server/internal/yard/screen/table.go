package screen

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
)

const (
	columnGap  = 2
	maxInTable = 60 // runes of one cell
)

// Table writes rows below a dim head, each column as wide as its widest cell. Cells are cleaned and kept to one line.
func Table(w io.Writer, style Style, head []string, rows [][]string) error {
	widths := make([]int, len(head))
	for i, name := range head {
		widths[i] = cells.Width(name)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = Line(row[i], maxInTable)
			widths[i] = max(widths[i], cells.Width(row[i]))
		}
	}
	var b strings.Builder
	b.WriteString(style.Dim(tableLine(head, widths)) + "\n")
	for _, row := range rows {
		b.WriteString(tableLine(row, widths) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tableLine(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-cells.Width(cell)+columnGap))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Ago says how long before now t was, in the one unit that matters: "12 s", "3 min", "5 h", "9 d"; "-" for no time.
func Ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "-"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	}
}

// Took says how long something took: "12 ms", "2.1 s", "3 min 5 s".
func Took(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
}

// Size says how many bytes in the unit that matters: "812 B", "4.2 kB", "1.5 MB".
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1000/1000)
	}
}
