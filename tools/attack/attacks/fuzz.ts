import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { SeededRandom } from '../../../test/support/random.js'
import type { Attack, Attacker } from '../attack.js'
import { bombAddress, callBomb } from '../bombs.js'
import { ask, inParallel, openSocket, pause, postText, rpcText } from '../sockets.js'

/** A request has so long before the connection is given up. */
const PATIENCE_MS = 300

/** Random and mutated bytes. */
export const fuzzedBytes: Attack = {
  name: 'fuzzed bytes',
  what: '16 clients that send requests, WebSocket handshakes and frames with random bytes changed',
  async run(attacker) {
    const { target, random, signal } = attacker
    await inParallel(16, signal, async () => {
      const socket = await openSocket(target)
      if (!socket) return pause(signal, 100)
      socket.resume()
      const begin = random.below(3) === 0 ? handshake(attacker) : Buffer.from(postText(target, fuzzedBody(random)))
      socket.write(mutate(begin, random))
      if (random.below(2) === 0) socket.write(random.bytes(random.below(3000)))
      await Promise.race([once(socket, 'close').catch(() => {}), pause(signal, PATIENCE_MS)])
      countAnswer(socket, attacker)
      socket.destroy()
    })
  },
}

/** Well-formed requests with odd values. */
export const fuzzedParameters: Attack = {
  name: 'fuzzed parameters',
  what: '16 clients that call every kind of method with random parameters',
  async run(attacker) {
    const { random, signal } = attacker
    await inParallel(16, signal, async () => {
      const text = await ask(attacker, fuzzedBody(random))
      if (text?.includes('-32603')) attacker.count('internal error')
    })
  },
}

const METHODS = [
  'eth_blockNumber', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getTransactionByHash',
  'eth_getTransactionByBlockNumberAndIndex', 'eth_getUncleByBlockHashAndIndex', 'eth_getLogs', 'eth_getLogsWithCursor',
  'eth_call', 'eth_estimateGas', 'eth_getBalance', 'eth_getStorageAt', 'eth_getCode', 'eth_getTransactionCount',
  'eth_feeHistory', 'debug_getRawBlock', 'debug_getRawReceipts', 'starknet_getBlockWithTxHashes',
  'zk_getBlockWithTxHashes', 'cairn_explainLogs', 'web3_sha3', 'rpc_discover', 'net_version',
] // biome-ignore format: a list reads better by rows

/** A request, or a batch of them, with values that a method may or may not take. */
function fuzzedBody(random: SeededRandom): string {
  const request = () =>
    JSON.stringify({
      jsonrpc: random.below(20) === 0 ? fuzzedValue(random, 1) : '2.0',
      id: random.below(10) === 0 ? fuzzedValue(random, 1) : random.below(1e6),
      method: random.below(20) === 0 ? fuzzedValue(random, 1) : METHODS[random.below(METHODS.length)],
      params:
        random.below(10) === 0
          ? fuzzedValue(random, 3)
          : Array.from({ length: random.below(4) }, () => fuzzedValue(random, 3)),
    })
  if (random.below(5) > 0) return request()
  return `[${Array.from({ length: random.below(20) }, request).join(',')}]`
}

function fuzzedValue(random: SeededRandom, depth: number): unknown {
  const hex = (length: number) => `0x${Buffer.from(random.bytes(length)).toString('hex')}`
  const choices: (() => unknown)[] = [
    () => null,
    () => random.below(2) === 0,
    () => [0, -1, 0.5, 1e21, 2 ** 53, -0][random.below(6)],
    () => `0x${random.below(2 ** 31).toString(16)}`,
    () => ['latest', 'earliest', 'pending', 'safe', 'finalized', '', '0x', '0x0', 'null'][random.below(9)],
    () => hex([0, 1, 8, 20, 32, 33, 300][random.below(7)]),
    () => bombAddress('returns'),
    () => 'x'.repeat(random.below(100)),
  ]
  if (depth > 0) {
    const inner = () => fuzzedValue(random, depth - 1)
    const names = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash', 'to', 'from', 'data', 'input', 'gas', 'value',
      'gasPrice', 'maxFeePerGas', 'accessList', 'blobVersionedHashes', 'authorizationList', 'blockNumber', 'block_number',
      'requireCanonical', '__proto__', 'constructor'] // biome-ignore format: a list reads better by rows
    choices.push(
      () => Array.from({ length: random.below(6) }, inner),
      () =>
        Object.fromEntries(Array.from({ length: random.below(6) }, () => [names[random.below(names.length)], inner()])),
      () => callBomb('returns', random.below(1000))[0],
    )
  }
  return choices[random.below(choices.length)]()
}

function handshake({ target: { host, port, socketPath }, random }: Attacker): Buffer {
  const key = Buffer.from(random.bytes(16)).toString('base64')
  const head = `GET ${socketPath} HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`
  return Buffer.concat([
    Buffer.from(head),
    frame(rpcText('eth_blockNumber', []), random),
    random.bytes(random.below(200)),
  ])
}

/** A masked text frame (RFC 6455, section 5.2). */
function frame(text: string, random: SeededRandom): Buffer {
  const mask = random.bytes(4)
  const payload = Buffer.from(text).map((byte, i) => byte ^ mask[i % 4])
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length]), mask, payload])
}

/** The bytes with some of them changed, left out or doubled; one time in four as they are. */
function mutate(bytes: Buffer, random: SeededRandom): Buffer {
  let mutated = bytes
  for (let left = random.below(4); left > 0 && mutated.length > 0; left--) {
    const at = random.below(mutated.length)
    const [before, after] = [mutated.subarray(0, at), mutated.subarray(at)]
    const kinds = [
      () => Buffer.concat([before, random.bytes(1), after.subarray(1)]),
      () => Buffer.concat([before, after.subarray(random.below(8))]),
      () => Buffer.concat([before, random.bytes(random.below(8)), after]),
      () => Buffer.concat([before, after, after]),
    ]
    mutated = kinds[random.below(kinds.length)]()
  }
  return mutated
}

function countAnswer(socket: Socket, { count }: Attacker): void {
  count(socket.bytesRead === 0 ? 'no answer' : socket.closed ? 'answered and closed' : 'answered')
}
