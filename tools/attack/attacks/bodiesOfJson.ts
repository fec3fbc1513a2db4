import type { Attack } from '../attack.js'
import { ask, inParallel, rpcText } from '../sockets.js'

/** Of each body, about; divisible by the lengths below. */
const BYTES = 4_800_000

/** A text of about `BYTES` characters. */
function fill(item: (i: number) => string, size: number, join = ','): string {
  return Array.from({ length: Math.floor(BYTES / size) }, (_, i) => item(i)).join(join)
}

/** Bodies that are dear to parse, to check or to hand over, each made when it is sent. */
const BODIES: readonly (() => string)[] = [
  () => '['.repeat(BYTES),
  () => '{"a":'.repeat(BYTES / 5),
  () => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}}`,
  () => `{"jsonrpc":"2.0","id":0.5,"method":"eth_chainId",${fill((i) => `"${i}":1`, 11)}}`,
  () => `{"jsonrpc":"2.0","method":"eth_chainId","id":${'9'.repeat(BYTES)}}`,
  () => rpcText('eth_chainId', [], 'i'.repeat(BYTES)),
  () => rpcText('m'.repeat(BYTES), []),
  () => rpcText('eth_call', [{ to: `0x${'11'.repeat(20)}`, data: `0x${'00'.repeat(BYTES / 2)}` }, 'latest']),
  () => rpcText('eth_getLogs', [{ address: Array(BYTES / 48).fill(`0x${'22'.repeat(20)}`) }]),
  () => rpcText('eth_getLogs', [{ topics: Array(BYTES / 3).fill([]) }]),
  () => rpcText('eth_blockNumber', Array(BYTES / 5).fill(null)),
  () => rpcText('web3_sha3', [`0x${'00'.repeat(BYTES / 2)}`]),
  () =>
    `[${Array(1000)
      .fill(rpcText('eth_getLogs', [{ address: Array(100).fill(`0x${'33'.repeat(20)}`) }]))
      .join(',')}]`,
  () =>
    `[${Array(1000)
      .fill(rpcText('x'.repeat(4_000), []))
      .join(',')}]`,
  () =>
    `[${Array(BYTES / 2)
      .fill(1)
      .join(',')}]`,
  () => `"${'\\u0041'.repeat(BYTES / 6)}"`,
  () => rpcText('eth_chainId', ['\u0800'.repeat(BYTES / 3)]),
]

/** Bodies of nearly 5 MB that hold up who parses them. */
export const hostileJson: Attack = {
  name: 'hostile JSON',
  what: '4 clients that send bodies of 4.8 MB: deep nesting, huge ids, keys, lists, strings and batches',
  async run(attacker) {
    const { random, signal } = attacker
    await inParallel(4, signal, async () => {
      await ask(attacker, BODIES[random.below(BODIES.length)]())
    })
  },
}

/** Batches of ordinary requests. */
export const manyBatches: Attack = {
  name: 'batches',
  what: '60 clients that each send one batch of 1,000 point reads after another',
  async run(attacker) {
    const { random, signal } = attacker
    const item = () =>
      random.below(2) === 0
        ? rpcText('eth_getBlockByNumber', ['latest', false], random.below(1e9))
        : rpcText('eth_getBalance', [`0x${'44'.repeat(20)}`, 'latest'], random.below(1e9))
    const batches = Array.from({ length: 8 }, () => `[${Array.from({ length: 1000 }, item).join(',')}]`)
    await inParallel(60, signal, async () => {
      await ask(attacker, batches[random.below(batches.length)])
    })
  },
}
