import { constants } from 'node:os'

/** Signals within this time of the first are duplicates: Ctrl-C reaches every process of a terminal, and `npm` and
 *  `npm start` forward what they receive. */
const SAME_SIGNAL_MS = 500

/** Handles SIGINT and SIGTERM. */
export interface StopSignal {
  /** Aborted by the first signal. A second one ends the process at once. */
  readonly signal: AbortSignal
  /** Stops like a first SIGTERM. */
  request(): void
  /** Returns the shell's exit code for a signal: 130 for SIGINT, 143 for SIGTERM; 0 without a signal. */
  exitCode(): number
  /** Restores the default handling of signals. */
  close(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Listens until `close`. In a process with an IPC channel, the loss of the parent counts as SIGTERM.
 *  @param onFirst called on the first signal, to print what it does */
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
      // Lets a second signal kill the process even while a long step blocks JavaScript.
      setTimeout(close, SAME_SIGNAL_MS).unref()
    } else if (performance.now() - first.ms > SAME_SIGNAL_MS) {
      // Not `process.exit`: it terminates worker threads, and a thread in compiled code may abort the process.
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
