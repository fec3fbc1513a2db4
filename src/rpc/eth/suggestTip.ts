import type { ChainReader, StoredBlock } from '../../store/rows/types.js'

// geth's parameters.
const BLOCKS = 20
const TIPS_PER_BLOCK = 3
const PERCENTILE = 60
const LEAST_TIP_WEI = 2n // lower ones come from miners' own transactions
const HIGHEST_TIP_WEI = 500_000_000_000n
/** If no block has a usable tip: 1 gwei. */
const DEFAULT_TIP_WEI = 1_000_000_000n

/** Suggested priority fee per gas in wei: the 60th percentile of the three lowest tips of each of the last 20 blocks.
 *  Before London a tip is the whole gas price. */
export function suggestTip(chain: ChainReader): bigint {
  const coverage = chain.coverage()
  if (!coverage) return DEFAULT_TIP_WEI
  const tips: bigint[] = []
  const first = Math.max(coverage.first, coverage.head - BLOCKS + 1)
  for (let number = coverage.head; number >= first; number--) {
    const block = chain.blockByNumber(number)
    if (block && block.txCount > 0) tips.push(...lowestTips(chain, block))
  }
  if (tips.length === 0) return DEFAULT_TIP_WEI
  tips.sort(compareBigInts)
  const tip = tips[Math.floor(((tips.length - 1) * PERCENTILE) / 100)]
  return tip > HIGHEST_TIP_WEI ? HIGHEST_TIP_WEI : tip
}

function lowestTips(chain: ChainReader, block: StoredBlock): bigint[] {
  const baseFee = block.header.baseFeePerGas ?? 0n
  const tips = chain.transactionFees(block).map(({ effectiveGasPrice }) => effectiveGasPrice - baseFee)
  return tips
    .filter((tip) => tip >= LEAST_TIP_WEI)
    .sort(compareBigInts)
    .slice(0, TIPS_PER_BLOCK)
}

/** Comparator: ascending. */
export function compareBigInts(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
