import { fork } from 'node:child_process'

/** A process of the benchmark's own, which gets one message to begin with and answers with one. */
export interface BenchProcess<Out> {
  /** The next message of the process. @throws Error when it ends without one. */
  next(): Promise<Out>
  send(message: unknown): void
  /** Ends it, however far it is. */
  kill(): void
}

/** Starts the module as a process and sends it `input`. What the clients and the prober measure would be delayed by the
 *  work of others in the same process. */
export function startProcess<Out>(module: URL, input: unknown): BenchProcess<Out> {
  const child = fork(module)
  child.send(input as object)
  const messages: Out[] = []
  let waiting: (() => void) | undefined
  let failure: Error | undefined
  child.on('message', (message) => {
    messages.push(message as Out)
    waiting?.()
  })
  const fail = (error: Error) => {
    failure ??= error
    waiting?.()
  }
  child.on('error', fail)
  child.on('exit', (code, signal) => fail(new Error(`${module.pathname} ended with ${signal ?? code}`)))
  return {
    next: async () => {
      while (messages.length === 0 && failure === undefined) {
        await new Promise<void>((resolve) => {
          waiting = resolve
        })
      }
      const message = messages.shift()
      if (message === undefined) throw failure
      return message
    },
    send: (message) => void child.send(message as object),
    kill: () => void child.kill('SIGKILL'),
  }
}
