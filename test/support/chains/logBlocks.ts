import { hashHeader } from '../../../src/chain/eth/header.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { Block, Header, Log, Receipt, Transaction } from '../../../src/chain/eth/types.js'
import { bytesOf, createRandom, type LogChain } from './logChain.js'

/** A block as the store takes it, with its receipts, and its logs once more in order. */
export interface BenchBlock {
  block: Block
  receipts: Receipt[]
  logs: Log[]
}

/** Blocks of the synthetic chain from block `from` on, each on top of the one before, the first on none. Their roots
 *  and signatures are made up, since the store takes blocks that were verified. The same for the same seed. */
export function* makeBlocks(chain: LogChain, seed: number, from = 0): Generator<BenchBlock> {
  let parentHash: Uint8Array = new Uint8Array(32)
  for (let number = from; ; number++) {
    const made = makeBlock(chain, number, { parentHash, random: createRandom(seed * 31 + number * 7 + 3) })
    parentHash = made.block.hash
    yield made
  }
}

function makeBlock(
  chain: LogChain,
  number: number,
  { parentHash, random }: { parentHash: Uint8Array; random: () => number },
): BenchBlock {
  const transactions: Transaction[] = []
  const receipts: Receipt[] = []
  for (const logs of chain.block(number)) {
    transactions.push(makeTransaction(random, BigInt(number), logs[0].address))
    receipts.push({
      type: 2,
      status: 1,
      cumulativeGasUsed: BigInt(receipts.length + 1) * 84_000n,
      gasUsed: 84_000n,
      effectiveGasPrice: 12_000_000_000n,
      logsBloom: new Uint8Array(256),
      logs,
    })
  }
  const header = makeHeader(number, parentHash)
  const block = { hash: hashHeader(header), header, transactions, uncles: [], sizeBytes: 60_000 }
  return { block, receipts, logs: receipts.flatMap(({ logs }) => logs) }
}

function makeTransaction(random: () => number, nonce: bigint, to: Uint8Array): Transaction {
  const word = () => BigInt(`0x${Buffer.from(bytesOf(random, 32)).toString('hex')}`)
  return {
    type: 2,
    hash: bytesOf(random, 32),
    from: bytesOf(random, 20),
    chainId: 1n,
    nonce,
    gasLimit: 120_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    maxFeePerGas: 30_000_000_000n,
    to,
    value: 0n,
    input: bytesOf(random, 68),
    accessList: [],
    v: 1n,
    r: word(),
    s: word(),
  }
}

function makeHeader(number: number, parentHash: Uint8Array): Header {
  return {
    parentHash,
    unclesHash: new Uint8Array(32),
    miner: new Uint8Array(20),
    stateRoot: new Uint8Array(32),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number,
    gasLimit: 30_000_000n,
    gasUsed: 15_000_000n,
    timestamp: BigInt(1_438_269_988 + number * 12),
    extraData: new Uint8Array(0),
    mixHash: new Uint8Array(32),
    nonce: new Uint8Array(8),
    baseFeePerGas: 11_000_000_000n,
  }
}
