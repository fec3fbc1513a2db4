/** Where progress is shown. */
export interface DisplayTarget {
  /** Default: standard error. */
  readonly stream?: NodeJS.WriteStream
  /** The clock, in milliseconds since any moment. */
  readonly nowMs?: () => number
}

/** A changing status line: redrawn in place on a terminal, elsewhere repeated with the time every few seconds. */
interface ProgressDisplay {
  /** Shows the line if it is due: every 0.1 s on a terminal, else every 5 s. */
  show(render: Render): void
  /** Writes a permanent line, except on a terminal, where the changing line stays visible by itself. */
  log(text: string): void
  /** Shows the last line permanently and releases the stream. */
  end(render: Render): void
}

/** Renders a line of at most that many columns. */
type Render = (columns: number) => string

const TERMINAL_MS = 100
const PLAIN_MS = 5000
const DEFAULT_COLUMNS = 80

/** Creates a display on a stream. Redraws when a terminal is resized. */
export function createProgressDisplay({ stream = process.stderr, nowMs = monotonicMs }: DisplayTarget = {}) {
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb'
  const everyMs = isTerminal ? TERMINAL_MS : PLAIN_MS
  let lastMs = nowMs()
  let shown: Render | undefined
  const write = (render: Render, end: string) => {
    // A line as wide as the terminal would wrap.
    if (isTerminal) stream.write(`\r\x1b[K${render((stream.columns || DEFAULT_COLUMNS) - 1)}${end}`)
    else stream.write(`${new Date().toISOString().slice(0, 19)}Z ${render(Number.POSITIVE_INFINITY)}\n`)
  }
  const onResize = () => {
    if (shown) write(shown, '')
  }
  if (isTerminal) stream.on('resize', onResize)
  const display: ProgressDisplay = {
    show: (render) => {
      const now = nowMs()
      if (now - lastMs < everyMs) return
      lastMs = now
      shown = render
      write(render, '')
    },
    log: (text) => {
      if (!isTerminal) write(() => text, '')
    },
    end: (render) => {
      stream.off('resize', onResize)
      write(render, '\n')
    },
  }
  return display
}

/** Milliseconds of a monotonic clock. */
export function monotonicMs(): number {
  return performance.now()
}
