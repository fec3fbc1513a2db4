import { equalBytes } from '../../../../lib/bytes.js'
import { formatQuantity } from '../../../../lib/hex.js'
import { EMPTY_REQUESTS_HASH } from '../../emptyHashes.js'
import { adjustBaseFee } from '../../fees.js'
import type { ChainSpec } from '../../forks/rules.js'
import { hashHeader, headerFields } from '../../header.js'
import type { Refuse } from '../../invalidBlock.js'
import { encodeTransaction } from '../../transaction.js'
import type { Header, Transaction } from '../../types.js'
import { withdrawalsRoot } from '../../withdrawals.js'
import type { AddedMembers } from '../addedType.js'
import { verifyStakeSeal } from '../ethereum.js'
import type { BlockBody, Family, HeaderContext, ReceiptMembers } from '../family.js'
import { DEPOSIT_TYPE } from './deposit.js'
import { type FeeParameters, HOLOCENE_EXTRA_DATA, JOVIAN_EXTRA_DATA, readExtraData } from './extraData.js'
import { type L1Attributes, readL1Attributes } from './l1Attributes.js'
import { estimatedSize, l1FeeOf } from './l1Fees.js'
import { formatOpConfig, OP_FORK_KEYS, readOpConfig } from './opConfig.js'
import { opExecution } from './opExecution.js'
import { hasOpFork } from './opForks.js'
import { formatScalar } from './scalar.js'

/** Chains of the OP stack from Bedrock on: OP Mainnet, Base, and those of a rollup configuration
 *  (specs/protocol/exec-engine.md and those of the forks). */
export const opStack: Family = {
  name: 'op',
  title: 'the OP stack',
  chosenBy: '--network op-mainnet, base, op-sepolia or base-sepolia, or --genesis with --rollup-config',
  engineApi: 'own', // payloads with a withdrawals root
  execution: opExecution,
  transactionTypes: [0, 1, 2, 4, DEPOSIT_TYPE],
  boundsGasLimit: () => false,
  hashesWholeHeader: true,
  hashHeader,
  encodedFields: headerFields,
  nextBaseFee,
  nextExcessBlobGas: () => 0n,
  verifyHeader: (header, context) => {
    verifyExtraData(header, context)
    verifyStakeSeal(header, context.refuse)
    verifyBlobGas(header, context)
    const { requestsHash } = header
    if (requestsHash !== undefined && !equalBytes(requestsHash, EMPTY_REQUESTS_HASH)) {
      context.refuse('requests hash', EMPTY_REQUESTS_HASH, requestsHash)
    }
  },
  // From Isthmus on, whose headers have a requests hash, it is the storage root of L2ToL1MessagePasser.
  withdrawalsRoot: ({ header, withdrawals }) => {
    if (withdrawals === undefined) return undefined
    const isStorageRoot = header.requestsHash !== undefined && withdrawals.length === 0
    return isStorageRoot ? header.withdrawalsRoot : withdrawalsRoot(withdrawals)
  },
  recognises: ({ difficulty, extraData }) =>
    difficulty === 0n &&
    [HOLOCENE_EXTRA_DATA, JOVIAN_EXTRA_DATA].some((form) => readExtraData(extraData, form) !== undefined),
  blobGasUsed: (block, spec, refuse) =>
    hasOpFork(spec, 'jovian', block.header.timestamp) ? daFootprintOf(block, refuse) : 0n,
  // As at op-geth, which puts the L1 attributes of the block below before the calls to compute it.
  simulatedBlobGas: ({ header, transactions }, first, spec) =>
    hasOpFork(spec, 'jovian', header.timestamp)
      ? footprintOf(transactions, l1AttributesOf(first)?.daFootprintGasScalar ?? 0n)
      : undefined,
  verifyBody,
  receiptMembers,
  forkKeys: OP_FORK_KEYS,
  readConfig: readOpConfig,
  formatConfig: formatOpConfig,
}

function nextBaseFee(parent: Header, timestamp: bigint, spec: ChainSpec): bigint {
  const { denominator, elasticity, minBaseFee } = feeParametersAfter(parent, timestamp, spec)
  const { gasUsed, blobGasUsed = 0n } = parent
  const isMetered = hasOpFork(spec, 'jovian', parent.timestamp) && blobGasUsed > gasUsed
  const fee = adjustBaseFee({
    baseFee: parent.baseFeePerGas!,
    gasUsed: isMetered ? blobGasUsed : gasUsed,
    target: parent.gasLimit / elasticity,
    denominator,
  })
  return fee < minBaseFee ? minBaseFee : fee
}

/** From Holocene on the parameters are those of the parent's header. */
function feeParametersAfter(parent: Header, timestamp: bigint, spec: ChainSpec): FeeParameters {
  const { elasticity, denominator, denominatorCanyon } = spec.op!
  if (hasOpFork(spec, 'holocene', parent.timestamp)) {
    const form = hasOpFork(spec, 'jovian', parent.timestamp) ? JOVIAN_EXTRA_DATA : HOLOCENE_EXTRA_DATA
    const found = readExtraData(parent.extraData, form)
    if (found !== undefined) return found
  }
  const isCanyon = hasOpFork(spec, 'canyon', timestamp)
  return { elasticity, denominator: isCanyon ? denominatorCanyon : denominator, minBaseFee: 0n }
}

function verifyExtraData({ extraData, timestamp }: Header, { spec, refuse }: HeaderContext): void {
  if (!hasOpFork(spec, 'holocene', timestamp)) {
    if (extraData.length > 0) refuse('extra data', 'none before Holocene', extraData)
    return
  }
  const form = hasOpFork(spec, 'jovian', timestamp) ? JOVIAN_EXTRA_DATA : HOLOCENE_EXTRA_DATA
  if (readExtraData(extraData, form) !== undefined) return
  const parts =
    form === JOVIAN_EXTRA_DATA ? 'denominator, elasticity and minimum base fee' : 'denominator and elasticity'
  refuse('extra data', `${form.bytes} bytes: version ${form.version}, ${parts}, the first two not zero`, extraData)
}

function verifyBlobGas(header: Header, { rules, spec, refuse }: HeaderContext): void {
  if (!rules.eip4844) return
  const { excessBlobGas, blobGasUsed, gasLimit, timestamp } = header
  if (excessBlobGas !== 0n) refuse('excess blob gas', 0n, excessBlobGas)
  const most = hasOpFork(spec, 'jovian', timestamp) ? gasLimit : 0n
  if (blobGasUsed! > most) refuse('blob gas used', `at most ${most}`, blobGasUsed)
}

/** The data footprint of a block in gas (specs/protocol/jovian/exec-engine.md). The activation block, whose first
 *  deposit has no scalar yet, contains deposits alone. */
function daFootprintOf({ header, transactions }: BlockBody, refuse: Refuse): bigint {
  const others = transactions.filter(({ type }) => type !== DEPOSIT_TYPE)
  if (header.number === 0 || (transactions.length > 0 && others.length === 0)) return 0n
  const scalar = l1AttributesOf(transactions[0])?.daFootprintGasScalar
  if (scalar === undefined) return refuse('first transaction', 'a deposit with the L1 attributes of Jovian', 'another')
  return footprintOf(others, scalar)
}

function footprintOf(transactions: readonly Transaction[], scalar: bigint): bigint {
  return transactions.reduce((sum, each) => sum + scalar * estimatedSize(encodeTransaction(each)), 0n)
}

function verifyBody({ header, transactions, withdrawals }: BlockBody, spec: ChainSpec, refuse: Refuse): void {
  const { bedrockBlock } = spec.op!
  if (header.number > 0 && header.number < bedrockBlock) {
    refuse('number', `at least ${bedrockBlock}, where Bedrock begins`, header.number)
  }
  if (withdrawals !== undefined && withdrawals.length > 0) refuse('withdrawals', 'an empty list', withdrawals.length)
  // Deposits come first: derivation puts them there (specs/protocol/derivation.md).
  const firstOther = transactions.findIndex(({ type }) => type !== DEPOSIT_TYPE)
  if (firstOther < 0) return
  const late = transactions.findIndex(({ type }, index) => type === DEPOSIT_TYPE && index > firstOther)
  if (late >= 0) refuse(`transaction ${late}: type`, 'no deposit after another transaction', DEPOSIT_TYPE)
}

function l1AttributesOf(first: Transaction | undefined): L1Attributes | undefined {
  return first?.type === DEPOSIT_TYPE ? readL1Attributes(first.input) : undefined
}

/** The members of op-geth's receipts. Fees follow from the block's first deposit and the transaction. */
function receiptMembers(spec: ChainSpec, header: Header, first: Transaction | undefined): ReceiptMembers | undefined {
  const attributes = l1AttributesOf(first)
  if (attributes === undefined) return undefined
  const forks = {
    isRegolith: hasOpFork(spec, 'regolith', header.timestamp),
    isFjord: hasOpFork(spec, 'fjord', header.timestamp),
  }
  const common = commonMembers(attributes)
  return (transaction: Transaction): AddedMembers => {
    if (transaction.type === DEPOSIT_TYPE) return {}
    const bytes = encodeTransaction(transaction)
    const { fee, gasUsed } = l1FeeOf(bytes, attributes, forks)
    const { daFootprintGasScalar: footprintScalar } = attributes
    return {
      ...common,
      l1Fee: formatQuantity(fee),
      l1GasUsed: formatQuantity(gasUsed),
      ...(footprintScalar === undefined ? {} : { blobGasUsed: formatQuantity(footprintScalar * estimatedSize(bytes)) }),
    }
  }
}

/** The members that all receipts of a block share. */
function commonMembers(attributes: L1Attributes): AddedMembers {
  const { baseFee, scalar, blobBaseFee, baseFeeScalar, blobBaseFeeScalar, daFootprintGasScalar } = attributes
  const { operatorFeeScalar = 0n, operatorFeeConstant = 0n } = attributes
  const hasOperatorFee = operatorFeeScalar > 0n || operatorFeeConstant > 0n
  const quantities = {
    l1GasPrice: baseFee,
    l1BlobBaseFee: blobBaseFee,
    l1BaseFeeScalar: baseFeeScalar,
    l1BlobBaseFeeScalar: blobBaseFeeScalar,
    operatorFeeScalar: hasOperatorFee ? operatorFeeScalar : undefined,
    operatorFeeConstant: hasOperatorFee ? operatorFeeConstant : undefined,
    daFootprintGasScalar,
  }
  const present = Object.entries(quantities).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, formatQuantity(value)] as const],
  )
  return { ...Object.fromEntries(present), ...(scalar === undefined ? {} : { l1FeeScalar: formatScalar(scalar) }) }
}
