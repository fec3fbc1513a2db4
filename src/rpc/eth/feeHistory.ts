import { familyOf } from '../../chain/eth/families/families.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import { rulesAt } from '../../chain/eth/forks/rules.js'
import { formatQuantity } from '../../lib/hex.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { resolveNumber } from '../core/blockId.js'
import { InvalidValue, RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import {
  arrayOf,
  BEYOND_ALL,
  blockNumberOrTag,
  indexOrDecimal,
  numberBetween,
  optional,
  required,
  type ValueType,
} from '../core/params.js'
import { FEE_HISTORY_SCHEMA } from './schemas.js'
import { compareBigInts } from './suggestTip.js'

// geth's bounds.
const MAX_BLOCKS = 1024
const MAX_PERCENTILES = 100

const BLOB_TYPE = 3

const percentiles: ValueType<number[]> = {
  schema: { ...arrayOf(numberBetween(0, 100)).schema, maxItems: MAX_PERCENTILES },
  decode: (value, path) => {
    const numbers = arrayOf(numberBetween(0, 100)).decode(value, path)
    if (numbers.length > MAX_PERCENTILES) throw new InvalidValue(`${path}: over the query limit ${MAX_PERCENTILES}`)
    const fall = numbers.findIndex((number, i) => i > 0 && number <= numbers[i - 1])
    if (fall > 0)
      throw new InvalidValue(`${path}[${fall}]: expected more than ${numbers[fall - 1]}, got ${numbers[fall]}`)
    return numbers
  },
}

// `scan`: 1,024 full blocks take a few hundred milliseconds.
export const feeHistory = defineMethod({
  name: 'eth_feeHistory',
  summary: 'Base fees, gas used ratios and paid priority fees of up to 1,024 blocks.',
  description:
    '`baseFeePerGas` and `baseFeePerBlobGas` have one more value, for the block after the last. Blocks before the first ' +
    'stored one are left out; `oldestBlock` is the first block of the result.',
  cost: 'scan',
  classes: ['node'],
  params: [
    required('blockCount', indexOrDecimal, 'how many blocks, at most 1,024'),
    required('newestBlock', blockNumberOrTag, 'last block of the range'),
    optional('rewardPercentiles', percentiles, 'ascending percentiles of tips, weighted by gas used', []),
  ],
  result: { name: 'fee history', schema: FEE_HISTORY_SCHEMA },
  errors: [{ code: SERVER_ERROR, message: 'request beyond head block: requested N, head M' }],
  handler: ({ chain, deadline }, blockCount, newestBlock, rewardPercentiles) => {
    const coverage = chain.coverage()
    const newest = resolveNumber(chain, newestBlock)
    if (!coverage || newest === undefined || newest > coverage.head) {
      const requested = newest === BEYOND_ALL ? 'a block from 2^53 on' : newest
      throw new RpcError(
        SERVER_ERROR,
        `request beyond head block: requested ${requested}, head ${coverage?.head ?? 'none'}`,
      )
    }
    const oldest = Math.max(coverage.first, newest - Math.min(blockCount, MAX_BLOCKS) + 1)
    const rows: FeeRow[] = []
    const rewards: string[][] = []
    for (let number = oldest; number <= newest; number++) {
      deadline.check()
      const block = chain.blockByNumber(number)!
      rows.push(feesOfBlock(chain, block))
      if (rewardPercentiles.length > 0) rewards.push(tipsAt(chain, block, rewardPercentiles).map(formatQuantity))
    }
    return formatHistory(oldest, rows, rewardPercentiles.length > 0 ? rewards : undefined)
  },
})

interface FeeRow {
  baseFee: bigint
  blobBaseFee: bigint
  gasUsedRatio: number
  blobGasUsedRatio: number
  nextBaseFee: bigint
  nextBlobBaseFee: bigint
}

function formatHistory(oldest: number, rows: FeeRow[], reward: string[][] | undefined) {
  const last = rows.at(-1)
  if (!last)
    return { oldestBlock: '0x0', baseFeePerGas: [], gasUsedRatio: [], baseFeePerBlobGas: [], blobGasUsedRatio: [] }
  return {
    oldestBlock: formatQuantity(oldest),
    reward,
    baseFeePerGas: [...rows.map((row) => row.baseFee), last.nextBaseFee].map(formatQuantity),
    gasUsedRatio: rows.map((row) => row.gasUsedRatio),
    baseFeePerBlobGas: [...rows.map((row) => row.blobBaseFee), last.nextBlobBaseFee].map(formatQuantity),
    blobGasUsedRatio: rows.map((row) => row.blobGasUsedRatio),
  }
}

/** Fees before London and blob fees before Cancun are zero. */
function feesOfBlock(chain: ChainReader, block: StoredBlock): FeeRow {
  const { header } = block
  const rules = chain.rulesOf(block)
  // The next block's time is unknown: its fork is that of the parent's time, as in geth.
  const spec = chain.spec()
  const family = familyOf(spec)
  const nextRules = rulesAt(spec, header.number + 1, header.timestamp, block.totalDifficulty)
  const row: FeeRow = {
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: 0n,
    gasUsedRatio: Number(header.gasUsed) / Number(header.gasLimit),
    blobGasUsedRatio: 0,
    nextBaseFee: nextRules.eip1559 ? family.nextBaseFee(header, header.timestamp, spec) : 0n,
    nextBlobBaseFee: 0n,
  }
  if (header.excessBlobGas !== undefined && rules.blobs) {
    row.blobBaseFee = blobBaseFeeOf(header.excessBlobGas, rules)
    row.nextBlobBaseFee = blobBaseFeeOf(family.nextExcessBlobGas(header, nextRules), nextRules)
    const hasBlobs = family.transactionTypes.includes(BLOB_TYPE) // else blob gas used is another measure
    if (hasBlobs) row.blobGasUsedRatio = Number(header.blobGasUsed ?? 0n) / (rules.blobs.max * Number(GAS_PER_BLOB))
  }
  return row
}

/** Deposits of the OP stack pay nothing. */
function tipOf(effectiveGasPrice: bigint, baseFee: bigint): bigint {
  return effectiveGasPrice > baseFee ? effectiveGasPrice - baseFee : 0n
}

/** Priority fees at percentiles of the gas that the block used, ascending; zeros for an empty block. */
function tipsAt(chain: ChainReader, block: StoredBlock, wanted: number[]): bigint[] {
  const baseFee = block.header.baseFeePerGas ?? 0n
  const fees = chain
    .transactionFees(block)
    .map(({ gasUsed, effectiveGasPrice }) => ({ gasUsed: Number(gasUsed), tip: tipOf(effectiveGasPrice, baseFee) }))
    .sort((a, b) => compareBigInts(a.tip, b.tip))
  if (fees.length === 0) return wanted.map(() => 0n)
  // From Amsterdam on the header's gas used is not the sum of the receipts (EIP-7778, EIP-8037); geth uses the
  // header's.
  const total = Number(block.header.gasUsed)
  let i = 0
  let sum = fees[0].gasUsed
  return wanted.map((percentile) => {
    const threshold = Math.floor((total * percentile) / 100)
    while (sum < threshold && i < fees.length - 1) sum += fees[++i].gasUsed
    return fees[i].tip
  })
}
