import { equalBytes } from '../../lib/bytes.js'
import { formatDifference } from '../../lib/hex.js'
import { transactionsRoot, unclesHash } from './block.js'
import { BLOOM_BYTES, orBloom } from './bloom.js'
import type { Family } from './families/family.js'
import { refuserOf } from './invalidBlock.js'
import { receiptsRoot } from './receipt.js'
import { orderedTrieRoot } from './trie.js'
import type { Block, ConsensusReceipt, Header } from './types.js'

/** Checks transactions, uncles and withdrawals against the roots in the header, for any fork of the family. `encoded`
 *  are the EIP-2718 bytes of the transactions, if known. @throws InvalidBlock */
export function verifyBodyRoots(block: Block, family: Family, encoded?: readonly Uint8Array[]): void {
  const { hash, header, transactions, uncles } = block
  const refuse = refuserOf(header.number, hash)
  const requireEqual = (check: string, computed: Uint8Array | undefined, inHeader: Uint8Array | undefined) => {
    const isEqual = computed && inHeader ? equalBytes(computed, inHeader) : computed === inHeader
    if (!isEqual) refuse(check, computed, inHeader)
  }
  requireEqual('uncles hash', unclesHash(uncles), header.unclesHash)
  const root = encoded ? orderedTrieRoot(encoded) : transactionsRoot(transactions)
  requireEqual('transactions root', root, header.transactionsRoot)
  requireEqual('withdrawals root', family.withdrawalsRoot(block), header.withdrawalsRoot)
}

const NO_BLOOM = new Uint8Array(BLOOM_BYTES) // never modified

/** Checks receipts against their header: gas used, logs bloom and receipts root. `executedGas` is the result of
 *  execution; default: that of the receipts, which from Amsterdam on do not determine it (EIP-7778, EIP-8037).
 *  `encoded` are the EIP-2718 bytes of the receipts, if known. @throws InvalidBlock */
export function verifyReceipts(
  header: Header,
  receipts: readonly ConsensusReceipt[],
  { blockHash, executedGas, encoded }: { blockHash: Uint8Array; executedGas?: bigint; encoded?: readonly Uint8Array[] },
): void {
  const refuse = refuserOf(header.number, blockHash)
  const isSum = header.blockAccessListHash === undefined
  const gasUsed = executedGas ?? (isSum ? (receipts.at(-1)?.cumulativeGasUsed ?? 0n) : header.gasUsed)
  if (gasUsed !== header.gasUsed) refuse('gas used', gasUsed, header.gasUsed)
  // Blocks without transactions are common in the early years of a chain.
  const bloom = receipts.length === 0 ? NO_BLOOM : new Uint8Array(BLOOM_BYTES)
  for (const receipt of receipts) orBloom(bloom, receipt.logsBloom)
  if (!equalBytes(bloom, header.logsBloom)) {
    const difference = formatDifference(bloom, header.logsBloom)
    refuse('logs bloom', difference.expected, difference.actual)
  }
  const root = encoded ? orderedTrieRoot(encoded) : receiptsRoot(receipts)
  if (!equalBytes(root, header.receiptsRoot)) refuse('receipts root', root, header.receiptsRoot)
}
