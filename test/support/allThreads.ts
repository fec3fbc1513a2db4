import { ask } from './rpcClient.js'

/** Sends calls side by side until a server over the bundled chain has started all its reader threads: at rest it has
 *  one.
 *  @param count `--scan-threads`, `--evm-threads`, one of the quick queue and the spare */
export async function startAllThreads(url: string, count: number): Promise<void> {
  for (;;) {
    const { threads } = (await (await fetch(`${url}/health`)).json()) as { threads: { warm: number } }
    if (threads.warm >= count) return
    const traces = Array.from({ length: 8 }, (_, i) =>
      ask(url, 'debug_traceBlockByNumber', [`0x${(i + 1).toString(16)}`]),
    )
    await Promise.all(traces)
  }
}
