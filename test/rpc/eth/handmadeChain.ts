import { encodeBlock } from '../../../src/chain/eth/block.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { UnsignedTransaction } from '../../../src/chain/eth/transaction.js'
import type { Block, Header, Log, Receipt, Transaction } from '../../../src/chain/eth/types.js'
import { EMPTY_BYTES } from '../../../src/lib/bytes.js'
import { createMetaTable, META_CHAIN, META_CHAIN_ID, META_STATE_MODE } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { numberedBytes } from '../../index/logs/randomLogs.js'
import { signTransaction } from '../../support/signing.js'

/** The first block held: those before it are not. */
export const FIRST = 10
/** Total difficulty of block 10; every block adds 100. */
export const FIRST_TOTAL_DIFFICULTY = 5_000n
/** Base fees begin here. */
export const LONDON = 12

const KEY = numberedBytes(1, 32)
const GENESIS = {
  config: {
    chainId: 1337,
    homesteadBlock: 0,
    eip150Block: 0,
    byzantiumBlock: 11,
    istanbulBlock: 11,
    londonBlock: LONDON,
  },
  difficulty: '0x64',
  gasLimit: '0x1c9c380',
  alloc: {},
}

/** A chain written block by block without being executed: blocks 10 to 13 of a database in `--state none`.
 *  10: a transaction with a state root in its receipt. 11: two transactions, the second with two logs, and an uncle.
 *  12: one of each type 1 and 2. 13: empty. */
export interface HandmadeChain {
  blocks: Block[]
  uncle: Header
}

/** Writes the chain into the database of `datadir`. */
export function writeHandmadeChain(datadir: string): HandmadeChain {
  const db = openForWriting(datadir)
  const meta = createMetaTable(db)
  meta.set(META_CHAIN, { genesis: GENESIS })
  meta.set(META_CHAIN_ID, '1337')
  meta.set(META_STATE_MODE, 'none')
  const writer = createChainWriter(db)
  writer.begin()
  const blocks: Block[] = []
  const add = (parts: { transactions?: Transaction[]; uncles?: Header[]; receipts?: Receipt[] }) => {
    const header = makeHeader(FIRST + blocks.length, blocks.at(-1)?.hash ?? numberedBytes(9, 32))
    header.gasUsed = (parts.receipts ?? []).reduce((sum, receipt) => sum + receipt.gasUsed, 0n)
    const block = {
      hash: hashHeader(header),
      header,
      transactions: parts.transactions ?? [],
      uncles: parts.uncles ?? [],
    }
    const whole: Block = { ...block, sizeBytes: encodeBlock(block).length }
    blocks.push(whole)
    writer.insertBlock(whole, parts.receipts ?? [], FIRST_TOTAL_DIFFICULTY + BigInt(blocks.length - 1) * 100n)
  }
  add({ transactions: [legacy(0n)], receipts: [receipt({ root: numberedBytes(77, 32) })] })
  const uncle = { ...makeHeader(11, blocks[0].hash), extraData: Uint8Array.of(1), difficulty: 90n }
  add({
    transactions: [legacy(1n), legacy(2n)],
    uncles: [uncle],
    receipts: [receipt({ status: 0 }), receipt({ status: 1, logs: [log(1), log(2)] })],
  })
  add({
    transactions: [accessList(3n), feeMarket(4n)],
    receipts: [
      receipt({ type: 1, status: 1, logs: [log(3)], gasUsed: 30_000n, effectiveGasPrice: 1_500_000_000n }),
      receipt({ type: 2, status: 1, gasUsed: 70_000n, effectiveGasPrice: 1_000_000_007n }),
    ],
  })
  add({})
  writer.commit()
  db.close()
  return { blocks, uncle }
}

function makeHeader(number: number, parentHash: Uint8Array): Header {
  return {
    parentHash,
    unclesHash: numberedBytes(1, 32),
    miner: numberedBytes(2, 20),
    stateRoot: numberedBytes(3, 32),
    transactionsRoot: numberedBytes(4, 32),
    receiptsRoot: numberedBytes(5, 32),
    logsBloom: new Uint8Array(256),
    difficulty: 100n,
    number,
    gasLimit: 1_000_000n,
    gasUsed: 0n,
    timestamp: BigInt(number * 13),
    extraData: EMPTY_BYTES,
    mixHash: numberedBytes(6, 32),
    nonce: numberedBytes(7, 8),
    baseFeePerGas: number >= LONDON ? 1_000_000_000n : undefined,
  }
}

function sign(parts: Partial<UnsignedTransaction> & { type: 0 | 1 | 2; nonce: bigint }): Transaction {
  return signTransaction({ gasLimit: 100_000n, to: numberedBytes(8, 20), value: 1n, input: EMPTY_BYTES, ...parts }, KEY)
}

function legacy(nonce: bigint): Transaction {
  return sign({ type: 0, nonce, gasPrice: 20_000_000_000n })
}

function accessList(nonce: bigint): Transaction {
  const list = [{ address: numberedBytes(8, 20), storageKeys: [numberedBytes(0, 32)] }]
  return sign({ type: 1, nonce, chainId: 1337n, gasPrice: 1_500_000_000n, accessList: list })
}

function feeMarket(nonce: bigint): Transaction {
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 7n }
  return sign({ type: 2, nonce, chainId: 1337n, ...fees, accessList: [] })
}

function log(number: number): Log {
  return { address: numberedBytes(8, 20), topics: [numberedBytes(number, 32)], data: numberedBytes(number, 40) }
}

function receipt(parts: Partial<Receipt>): Receipt {
  const logs = parts.logs ?? []
  const gas = { gasUsed: 21_000n, cumulativeGasUsed: 21_000n, effectiveGasPrice: 20_000_000_000n }
  return { type: 0, ...gas, logs, logsBloom: bloomOf(logs), ...parts }
}
