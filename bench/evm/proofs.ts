import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { startCairn } from '../../test/support/cairn.js'
import { accountAddress, VAULT } from '../../test/support/chains/stateChain.js'
import { ask } from '../../test/support/rpcClient.js'

/** How long `eth_getProof` takes at a height. */
export interface ProofFigures {
  blocksBehind: number
  /** The first request of a new server. */
  firstMs: number
  /** Requests for other accounts and slots after it, of all readers. */
  p50Ms: number
  maxMs: number
  /** Message of the error that is answered instead. */
  error?: string
}

const REQUESTS = 40
const SLOTS = 10

/** Asks a new server for each height over HTTP: an account that changes, one that does not exist, and slots of the
 *  vault. */
export async function measureProofs(
  datadir: string,
  { accounts, slots, behind }: { accounts: number; slots: number; behind: readonly number[] },
): Promise<ProofFigures[]> {
  const figures: ProofFigures[] = []
  for (const blocksBehind of behind) {
    const { url, stop } = await startCairn({ after: () => {} }, ['--open', '--datadir', datadir])
    try {
      const head = Number((await ask(url, 'eth_blockNumber', [])).result)
      const prove = async (n: number) => {
        const keys = Array.from({ length: SLOTS }, (_, i) => formatQuantity((n * SLOTS + i * 7_919) % slots))
        const address = n % 2 === 0 ? VAULT : formatData(accountAddress((n * 7_919) % (2 * accounts)))
        const startedMs = performance.now()
        const { error } = await ask(url, 'eth_getProof', [address, keys, formatQuantity(head - blocksBehind)])
        return { ms: performance.now() - startedMs, error: error?.message }
      }
      const first = await prove(0)
      const rest: number[] = []
      for (let n = 1; n <= REQUESTS && first.error === undefined; n++) rest.push((await prove(n)).ms)
      rest.sort((a, b) => a - b)
      const [p50Ms, maxMs] = [rest[rest.length >> 1], rest[rest.length - 1]]
      figures.push({ blocksBehind, firstMs: first.ms, p50Ms, maxMs, error: first.error })
    } finally {
      await stop()
    }
  }
  return figures
}
