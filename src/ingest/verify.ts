import { transactionsRoot, unclesHash, withdrawalsRoot } from '../chain/eth/block.js'
import { BLOOM_BYTES, orBloom } from '../chain/eth/bloom.js'
import { nextDifficulty } from '../chain/eth/difficulty.js'
import { GAS_PER_BLOB, nextBaseFee, nextExcessBlobGas } from '../chain/eth/fees.js'
import type { ChainSpec, Fork, Rules } from '../chain/eth/forks.js'
import { hashHeader } from '../chain/eth/header.js'
import { receiptsRoot } from '../chain/eth/receipt.js'
import { hasHighS } from '../chain/eth/transaction.js'
import { MAX_TRANSACTION_BLOBS, MAX_TRANSACTION_GAS } from '../chain/eth/transactionLimits.js'
import { orderedTrieRoot } from '../chain/eth/trie.js'
import type { Block, ConsensusReceipt, Header, Transaction } from '../chain/eth/types.js'
import { maxInitCodeSize } from '../evm/interpreter/rules.js'
import { equalBytes } from '../lib/bytes.js'
import { CairnError } from '../lib/errors.js'
import { formatData, formatDifference } from '../lib/hex.js'

/** A refused block. `check` is the short name of the violated rule; `expected` and `actual` are the compared values, if
 *  any. */
export class InvalidBlock extends CairnError {
  readonly blockNumber: number
  readonly blockHash: Uint8Array
  readonly check: string
  readonly expected?: string
  readonly actual?: string
  constructor(fields: {
    blockNumber: number
    blockHash: Uint8Array
    check: string
    expected?: string
    actual?: string
    /** Instead of the values, or after them. */
    detail?: string
    cause?: unknown
  }) {
    const { blockNumber, blockHash, check, expected, actual, detail, cause } = fields
    const compared = expected === undefined ? actual : `expected ${expected}, the block has ${actual}`
    const values = [compared, detail].filter((part) => part !== undefined).join('; ')
    super(`block ${blockNumber} (${formatData(blockHash)}): ${check}: ${values}`, { cause })
    this.blockNumber = blockNumber
    this.blockHash = blockHash
    this.check = check
    this.expected = expected
    this.actual = actual
  }
}

/** The parts of the parent that its child is checked against. */
export interface ParentBlock {
  hash: Uint8Array // 32
  header: Header
}

/** Throws `InvalidBlock` for its block. */
type Refuse = (check: string, expected: unknown, actual: unknown, detail?: string) => never

function refuserOf(blockNumber: number, blockHash: Uint8Array): Refuse {
  return (check, expected, actual, detail) => {
    throw new InvalidBlock({ blockNumber, blockHash, check, expected: show(expected), actual: show(actual), detail })
  }
}

function show(value: unknown): string {
  return value instanceof Uint8Array ? formatData(value) : value === undefined ? 'none' : String(value)
}

/** Checks a header against its parent and the rules in force. The proof-of-work seal is not checked: nonce and mix hash
 *  of Ethash are accepted as they are. Rules: Yellow Paper 4.3.4, EIP-779, 1559, 3675, 4399, 4844, 4788, 4895, 7685,
 *  7918. A development chain may keep the timestamp, and sets base fee and gas limit as it likes. @throws InvalidBlock */
export function verifyHeader(
  header: Header,
  blockHash: Uint8Array,
  parent: ParentBlock,
  rules: Rules,
  spec: ChainSpec,
): void {
  const refuse = refuserOf(header.number, blockHash)
  if (header.number !== parent.header.number + 1) refuse('number', parent.header.number + 1, header.number)
  if (!equalBytes(header.parentHash, parent.hash)) refuse('parent hash', parent.hash, header.parentHash)
  verifyHeaderFields(header, parent.header, rules, spec, refuse)
}

function verifyHeaderFields(header: Header, parent: Header, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  verifyTimestamp(header, parent, spec, refuse)
  if (header.extraData.length > 32) refuse('extra data', 'at most 32 bytes', `${header.extraData.length} bytes`)
  verifyDaoExtraData(header, spec, refuse)
  verifyGas(header, parent, rules, spec, refuse)
  verifySeal(header, parent, rules, spec, refuse)
  verifyForkFields(header, parent, rules, spec, refuse)
}

/** Nodes that mine several blocks a second give them the same time. */
function verifyTimestamp({ timestamp }: Header, parent: Header, { isDevelopment }: ChainSpec, refuse: Refuse): void {
  if (timestamp > parent.timestamp || (isDevelopment && timestamp === parent.timestamp)) return
  refuse('timestamp', `${isDevelopment ? 'at least' : 'more than'} the parent's ${parent.timestamp}`, timestamp)
}

const DAO_EXTRA_DATA = new TextEncoder().encode('dao-hard-fork') // EIP-779
const DAO_EXTRA_RANGE = 10

function verifyDaoExtraData(header: Header, spec: ChainSpec, refuse: Refuse): void {
  const at = spec.activations.find(({ fork }) => fork === 'dao')?.block
  if (!spec.daoForkSupport || at === undefined) return
  if (header.number < at || header.number >= at + DAO_EXTRA_RANGE) return
  if (!equalBytes(header.extraData, DAO_EXTRA_DATA)) refuse('dao extra data', DAO_EXTRA_DATA, header.extraData)
}

const MIN_GAS_LIMIT = 5000n
const MAX_GAS_LIMIT = 2n ** 63n - 1n // EIP-106 and geth
const GAS_LIMIT_BOUND = 1024n

function verifyGas(header: Header, parent: Header, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  const { gasLimit, gasUsed } = header
  // EIP-1559: the gas limit doubles at the fork, so that the old limit becomes the target.
  const before = rules.has('london') && parent.baseFeePerGas === undefined ? parent.gasLimit * 2n : parent.gasLimit
  const change = gasLimit > before ? gasLimit - before : before - gasLimit
  if (change >= before / GAS_LIMIT_BOUND && !spec.isDevelopment) {
    refuse('gas limit', `within ${before / GAS_LIMIT_BOUND} of ${before}`, gasLimit)
  }
  if (gasLimit < MIN_GAS_LIMIT || gasLimit > MAX_GAS_LIMIT) {
    refuse('gas limit', `${MIN_GAS_LIMIT} to ${MAX_GAS_LIMIT}`, gasLimit)
  }
  if (gasUsed > gasLimit) refuse('gas used', `at most the gas limit ${gasLimit}`, gasUsed)
}

const ZERO_NONCE = new Uint8Array(8)

function verifySeal(header: Header, parent: Header, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  if (rules.isProofOfStake) {
    if (header.difficulty !== 0n) refuse('difficulty', '0 under proof of stake', header.difficulty)
    if (!equalBytes(header.nonce, ZERO_NONCE)) refuse('nonce', ZERO_NONCE, header.nonce)
    return
  }
  if (spec.fixedDifficulty !== undefined) {
    if (header.difficulty !== spec.fixedDifficulty) refuse('difficulty', spec.fixedDifficulty, header.difficulty)
    return
  }
  if (!spec.ethash) return
  const expected = nextDifficulty(parent, header.number, header.timestamp, rules)
  if (header.difficulty !== expected) refuse('difficulty', expected, header.difficulty)
}

/** What to do when every block of a network lacks, or has, the fields of a fork. */
const hintAtTime = (fork: Fork) =>
  `if all blocks from here on are so, the time of ${fork} is wrong or missing: --fork ${fork}=TIME sets it`

function verifyForkFields(header: Header, parent: Header, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  const requirePresence = (name: string, value: unknown, fork: Fork) => {
    const required = rules.has(fork)
    if ((value !== undefined) === required) return
    const hint = fork === 'london' ? undefined : hintAtTime(fork)
    refuse(name, required ? `a value from ${rules.fork} on` : `none at ${rules.fork}`, value, hint)
  }
  requirePresence('base fee', header.baseFeePerGas, 'london')
  requirePresence('withdrawals root', header.withdrawalsRoot, 'shanghai')
  requirePresence('blob gas used', header.blobGasUsed, 'cancun')
  requirePresence('excess blob gas', header.excessBlobGas, 'cancun')
  requirePresence('parent beacon block root', header.parentBeaconBlockRoot, 'cancun')
  requirePresence('requests hash', header.requestsHash, 'prague')
  requirePresence('block access list hash', header.blockAccessListHash, 'amsterdam')
  requirePresence('slot number', header.slotNumber, 'amsterdam')
  if (rules.has('london') && !spec.isDevelopment) {
    const expected = nextBaseFee(parent)
    if (header.baseFeePerGas !== expected) refuse('base fee', expected, header.baseFeePerGas)
  }
  if (rules.has('cancun')) {
    const most = BigInt(rules.blobs!.max) * GAS_PER_BLOB
    if (header.blobGasUsed! > most || header.blobGasUsed! % GAS_PER_BLOB !== 0n) {
      refuse('blob gas used', `a multiple of ${GAS_PER_BLOB}, at most ${most}`, header.blobGasUsed)
    }
    const expected = nextExcessBlobGas(parent, rules)
    if (header.excessBlobGas !== expected) refuse('excess blob gas', expected, header.excessBlobGas)
  }
}

const MAX_BLOCK_SIZE = 8_388_608 // EIP-7934: 10 MiB minus a margin of 2 MiB

/** Checks the parts of a block against its header, and each transaction by itself. Rules: Yellow Paper 4.3.2; EIP-2, 155,
 *  2681, 2718, 3860, 4844, 4895, 7702, 7825, 7934. @throws InvalidBlock */
export function verifyBody(block: Block, rules: Rules, spec: ChainSpec): void {
  verifyBodyRules(block, rules, spec)
  verifyBodyRoots(block)
}

/** The same without the roots in the header. @throws InvalidBlock */
export function verifyBodyRules(block: Block, rules: Rules, spec: ChainSpec): void {
  const { header, transactions, uncles, withdrawals } = block
  const refuse = refuserOf(header.number, block.hash)
  if (rules.has('osaka') && block.sizeBytes > MAX_BLOCK_SIZE)
    refuse('block size', `at most ${MAX_BLOCK_SIZE} bytes`, block.sizeBytes)
  if (rules.isProofOfStake && uncles.length > 0) refuse('uncles', 'none under proof of stake', uncles.length)
  // An invalid transaction is a better explanation than the differing root it causes.
  let blobs = 0
  for (const [index, transaction] of transactions.entries()) {
    verifyTransaction(transaction, rules, spec, (check, expected, actual) =>
      refuse(`transaction ${index}: ${check}`, expected, actual),
    )
    blobs += transaction.blobVersionedHashes?.length ?? 0
  }
  if ((withdrawals !== undefined) !== rules.has('shanghai')) {
    refuse('withdrawals', rules.has('shanghai') ? 'a list' : 'none', withdrawals ? 'a list' : 'none')
  }
  if (rules.has('cancun') && header.blobGasUsed !== BigInt(blobs) * GAS_PER_BLOB) {
    refuse('blob gas used', BigInt(blobs) * GAS_PER_BLOB, header.blobGasUsed)
  }
}

/** Checks transactions, uncles and withdrawals against the roots in the header, for any fork. `encoded` are the EIP-2718 bytes
 *  of the transactions, where they are known. @throws InvalidBlock */
export function verifyBodyRoots(
  { hash, header, transactions, uncles, withdrawals }: Block,
  encoded?: readonly Uint8Array[],
): void {
  const refuse = refuserOf(header.number, hash)
  const requireEqual = (check: string, computed: Uint8Array | undefined, inHeader: Uint8Array | undefined) => {
    const isEqual = computed && inHeader ? equalBytes(computed, inHeader) : computed === inHeader
    if (!isEqual) refuse(check, computed, inHeader)
  }
  requireEqual('uncles hash', unclesHash(uncles), header.unclesHash)
  const root = encoded ? orderedTrieRoot(encoded) : transactionsRoot(transactions)
  requireEqual('transactions root', root, header.transactionsRoot)
  requireEqual('withdrawals root', withdrawals && withdrawalsRoot(withdrawals), header.withdrawalsRoot)
}

const TYPE_FORKS = ['frontier', 'berlin', 'london', 'cancun', 'prague'] as const
const MAX_UINT64 = 2n ** 64n - 1n

function verifyTransaction(transaction: Transaction, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  const { type, chainId, gasLimit, to, input } = transaction
  if (!rules.has(TYPE_FORKS[type])) refuse('type', `one that ${rules.fork} knows`, type)
  if (chainId !== undefined && chainId !== spec.chainId) refuse('chain id', spec.chainId, chainId)
  if (chainId !== undefined && !rules.has('spuriousDragon'))
    refuse('chain id', `none at ${rules.fork} (EIP-155)`, chainId)
  if (rules.has('homestead') && hasHighS(transaction)) refuse('signature', 's in the lower half (EIP-2)', transaction.s)
  if (transaction.nonce >= MAX_UINT64) refuse('nonce', 'below 2^64 - 1 (EIP-2681)', transaction.nonce)
  if (gasLimit > MAX_UINT64) refuse('gas limit', 'at most 2^64 - 1', gasLimit)
  if (rules.has('osaka') && !rules.has('amsterdam') && gasLimit > MAX_TRANSACTION_GAS)
    refuse('gas limit', `at most ${MAX_TRANSACTION_GAS} (EIP-7825)`, gasLimit)
  const mostInitCode = maxInitCodeSize(rules)
  if (to === undefined && input.length > mostInitCode) {
    refuse('init code', `at most ${mostInitCode} bytes (EIP-3860)`, input.length)
  }
  if (type === 3) verifyBlobs(transaction, rules, refuse)
  if (type === 4) {
    if (to === undefined) refuse('to', 'an address (EIP-7702)', to)
    if (transaction.authorizationList!.length === 0) refuse('authorization list', 'at least one tuple (EIP-7702)', 0)
  }
}

function verifyBlobs({ to, blobVersionedHashes = [] }: Transaction, rules: Rules, refuse: Refuse): void {
  if (to === undefined) refuse('to', 'an address (EIP-4844)', to)
  const most = rules.has('osaka') ? MAX_TRANSACTION_BLOBS : rules.blobs!.max
  if (blobVersionedHashes.length === 0 || blobVersionedHashes.length > most) {
    refuse('blobs', `1 to ${most}`, blobVersionedHashes.length)
  }
  for (const hash of blobVersionedHashes) if (hash[0] !== 1) refuse('blob versioned hash', 'version 1', hash)
}

/** The chain before a block, for checking its uncles. */
export interface Ancestors {
  header(number: number): ParentBlock | undefined
  uncleHashes(number: number): Uint8Array[]
}

const MAX_UNCLES = 2
const UNCLE_GENERATIONS = 6 // Yellow Paper 4.3.4 (k)

/** Checks the uncles of a block (Yellow Paper 4.3.4, 11.1): at most two, each a sibling of one of the last six ancestors'
 *  children, valid by itself, not an ancestor and not included before. `rulesOf` returns the rules at an uncle. @returns
 *  the hashes of the uncles, 32 bytes each @throws InvalidBlock */
export function verifyUncles(
  block: Block,
  ancestors: Ancestors,
  rulesOf: (header: Header) => Rules,
  spec: ChainSpec,
): Uint8Array[] {
  const { uncles, header } = block
  if (uncles.length === 0) return []
  const refuse = refuserOf(header.number, block.hash)
  if (uncles.length > MAX_UNCLES) refuse('uncles', `at most ${MAX_UNCLES}`, uncles.length)
  const included = new Set<string>([formatData(block.hash)])
  const parents = new Map<string, ParentBlock>()
  // In a chain that is stored from a later block on, the first blocks lack ancestors; an uncle's parent may then be unknown.
  let allHeld = true
  for (let back = 1; back <= Math.min(UNCLE_GENERATIONS + 1, header.number); back++) {
    const ancestor = ancestors.header(header.number - back)
    if (!ancestor) {
      allHeld = false
      break
    }
    included.add(formatData(ancestor.hash))
    // An uncle's parent is the parent of one of the last six ancestors.
    if (back >= 2) parents.set(formatData(ancestor.hash), ancestor)
    if (back <= UNCLE_GENERATIONS) {
      for (const hash of ancestors.uncleHashes(header.number - back)) included.add(formatData(hash))
    }
  }
  const hashes = uncles.map(hashHeader)
  for (const [index, uncle] of uncles.entries()) {
    const hash = formatData(hashes[index])
    if (included.has(hash)) refuse(`uncle ${index}`, 'neither an ancestor nor included before', hash)
    included.add(hash)
    const parent = parents.get(formatData(uncle.parentHash))
    if (parent) verifyUncle(uncle, index, parent.header, rulesOf(uncle), spec, refuse)
    else if (allHeld) refuse(`uncle ${index}: parent hash`, 'an ancestor of generation 2 to 7', uncle.parentHash)
  }
  return hashes
}

function verifyUncle(
  uncle: Header,
  index: number,
  parent: Header,
  rules: Rules,
  spec: ChainSpec,
  refuse: Refuse,
): void {
  const refuseUncle: Refuse = (check, expected, actual) => refuse(`uncle ${index}: ${check}`, expected, actual)
  if (uncle.number !== parent.number + 1) refuseUncle('number', parent.number + 1, uncle.number)
  verifyHeaderFields(uncle, parent, rules, spec, refuseUncle)
}

const NO_BLOOM = new Uint8Array(BLOOM_BYTES) // never modified

/** Checks receipts against their header: gas used, logs bloom and receipts root. `executedGas` is what execution found; without
 *  it that of the receipts, which from Amsterdam on does not follow from them (EIP-7778, EIP-8037). `encoded` are the EIP-2718
 *  bytes of the receipts, where they are known. @throws InvalidBlock */
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
