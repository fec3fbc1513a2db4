import { formatQuantity } from '../../../src/lib/hex.js'
import type { ChainFacts } from '../facts.js'
import type { Choices, Request } from './random.js'

/** Everything that is stored of every block and transaction. */
export function allReads({ head, blockHashes, transactions }: ChainFacts): Request[] {
  const requests: Request[] = []
  const ask = (method: string, ...params: unknown[]) => void requests.push({ method, params })
  for (let number = 0; number <= head; number++) {
    const at = formatQuantity(number)
    ask('eth_getBlockByNumber', at, true)
    ask('eth_getBlockByHash', blockHashes[number], false)
    ask('eth_getBlockReceipts', at)
    ask('eth_getUncleByBlockNumberAndIndex', at, '0x0')
    ask('eth_getUncleCountByBlockHash', blockHashes[number])
    ask('eth_getBlockTransactionCountByNumber', at)
    ask('eth_getLogs', { fromBlock: at, toBlock: at })
    for (const method of ['debug_getRawBlock', 'debug_getRawHeader', 'debug_getRawReceipts']) ask(method, at)
  }
  for (const { hash, blockNumber, index } of transactions) {
    ask('eth_getTransactionByHash', hash)
    ask('eth_getTransactionReceipt', hash)
    ask('debug_getRawTransaction', hash)
    ask('eth_getTransactionByBlockNumberAndIndex', formatQuantity(blockNumber), formatQuantity(index))
  }
  return requests
}

/** A random question about the state, the logs or the fees. */
export function randomRead(choices: Choices): Request {
  const { random, facts, pick, address, stateBlock, blockNumber } = choices
  const slot = () => `0x${random.below(6).toString(16).padStart(64, '0')}`
  const kind = random.below(9)
  if (kind === 0) return { method: 'eth_getBalance', params: [address(), stateBlock()] }
  if (kind === 1) return { method: 'eth_getTransactionCount', params: [address(), stateBlock()] }
  if (kind === 2) return { method: 'eth_getCode', params: [address(), stateBlock()] }
  if (kind === 3) return { method: 'eth_getStorageAt', params: [address(), slot(), stateBlock()] }
  if (kind <= 5) {
    const keys = Array.from({ length: random.below(4) }, slot)
    return { method: 'eth_getProof', params: [address(), keys, stateBlock()] }
  }
  if (kind === 6) {
    const percentiles = [[], [50], [0, 10.5, 99, 100], [25, 75]]
    return {
      method: 'eth_feeHistory',
      params: [formatQuantity(random.below(8)), formatQuantity(blockNumber()), pick(percentiles)],
    }
  }
  const [from, to] = [blockNumber(), blockNumber()].sort((a, b) => a - b)
  const topics = Array.from({ length: random.below(3) }, () =>
    pick([null, pick(facts.topics), [pick(facts.topics), pick(facts.topics)]]),
  )
  const filter = {
    fromBlock: formatQuantity(from),
    toBlock: formatQuantity(to),
    topics,
    address: pickAddresses(choices),
  }
  return { method: 'eth_getLogs', params: [filter] }
}

function pickAddresses({ random, address }: Choices): unknown {
  const kind = random.below(4)
  return kind === 0 ? address() : kind === 1 ? [address(), address(), address()] : undefined
}
