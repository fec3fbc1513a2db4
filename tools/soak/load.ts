import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { LOGGED, LOGGER, SENDERS } from '../../test/support/chains/branches.js'
import type { SeededRandom } from '../../test/support/random.js'
import { ask } from '../../test/support/rpcClient.js'

/** Requests by outcome: `ok`, or the error's message. */
export interface LoadCounts {
  [outcome: string]: number
}

/** The number as a topic. */
export function numberTopic(value: number): Uint8Array {
  const topic = new Uint8Array(32)
  topic[31] = value
  return topic
}

/** Sends a random request about blocks 0 to `head`, and counts its outcome. */
export async function sendRandomRequest(
  url: string,
  { head, random, counts }: { head: number; random: SeededRandom; counts: LoadCounts },
): Promise<void> {
  const [method, params] = randomRequest(head, random)
  const outcome = await ask(url, method, params).then(
    ({ error }) => (error === undefined ? 'ok' : error.message.replace(/[0-9a-f]*\d[0-9a-f]*/g, 'N')),
    (error: Error) => error.message,
  )
  counts[outcome] = (counts[outcome] ?? 0) + 1
}

function randomRequest(head: number, random: SeededRandom): [method: string, params: unknown[]] {
  const number = formatQuantity(random.below(head + 1))
  const to = formatData(LOGGER)
  switch (random.below(8)) {
    case 0:
      return ['eth_getBlockByNumber', [number, true]]
    case 1:
      return ['eth_getBlockReceipts', [number]]
    case 2:
      return ['eth_getBalance', [formatData(SENDERS[random.below(3)].address), number]]
    case 3:
      return ['eth_getStorageAt', [to, formatQuantity(random.below(30)), number]]
    case 4: {
      const words = [random.below(30), random.below(4), random.below(20)].map(numberTopic)
      return [
        'eth_call',
        [{ to, data: `0x${words.map((word) => Buffer.from(word).toString('hex')).join('')}` }, number],
      ]
    }
    case 5:
      return ['eth_newFilter', [{ address: to }]]
    default: {
      const fromBlock = formatQuantity(Math.max(0, head - random.below(400)))
      const topics = random.below(2) ? [formatData(LOGGED), formatData(numberTopic(random.below(20)))] : []
      return ['eth_getLogs', [{ fromBlock, toBlock: 'latest', address: to, topics }]]
    }
  }
}
