import { constants } from 'node:os'

/** Signals this long after the first are the same one: Ctrl-C reaches every process of a terminal, and `npm` and
 *  `npm start` pass on what they get. */
const SAME_SIGNAL_MS = 500

/** Hears SIGINT and SIGTERM. */
export interface StopSignal {
  /** Aborted by the first signal. A second one ends the process at once. */
  readonly signal: AbortSignal
  /** Stops as a first SIGTERM does. */
  request(): void
  /** What a shell calls a process that a signal ended: 130 for SIGINT, 143 for SIGTERM; 0 when none came. */
  exitCode(): number
  /** Leaves signals to the system again. */
  close(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Listens until `close`. In a process that was started with an IPC channel, the loss of its parent counts as SIGTERM.
 *  @param onFirst called with the first signal, to say what it does */
export function listenForStop(onFirst: () => void = () => {}): StopSignal {
  const controller = new AbortController()
  let first: { signal: NodeJS.Signals; ms: number } | undefined
  const codeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal]
  const close = () => {
    for (const name of SIGNALS) process.off(name, onSignal)
    process.off('disconnect', request)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = { signal, ms: performance.now() }
      onFirst()
      controller.abort()
      // The system ends the process even while one long step keeps JavaScript from hearing of the signal.
      setTimeout(close, SAME_SIGNAL_MS).unref()
    } else if (performance.now() - first.ms > SAME_SIGNAL_MS) {
      // Not `process.exit`: it terminates worker threads, and one that is in compiled code may abort the process.
      close()
      process.kill(process.pid, signal)
    }
  }
  const request = () => {
    if (first === undefined) onSignal('SIGTERM')
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  if (process.send !== undefined) {
    process.on('disconnect', request)
    process.channel?.unref() // listening must not keep the process alive
    if (!process.connected) request()
  }
  return { signal: controller.signal, request, exitCode: () => (first === undefined ? 0 : codeOf(first.signal)), close }
}
