import { bigIntToFixedBytes, bytesToBigInt, concatBytes } from '../../../../lib/bytes.js'
import { parseHex } from '../../../../lib/hex.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../fees.js'
import { type ChainSpec, rulesAt } from '../../forks/rules.js'
import { DecodeError } from '../../rlp.js'
import type { Header, Transaction, Withdrawal } from '../../types.js'
import { readWordList, WORD } from '../abiWords.js'
import type { AddedFees, ClosingCall, FamilyBlockRules, FamilyExecution, FamilyState, Payment } from '../execution.js'
import type { CodeChange } from './gnosisRules.js'

const REWARD = parseHex('0xf91c2898') // reward(address[],uint16[])
const WITHDRAWALS = parseHex('0x79d0c0bc') // executeSystemWithdrawals(uint256,uint64[],address[])
const MAX_FAILED_WITHDRAWALS = 4n
/** Of both calls, as in reth_gnosis. The specification has 2^64 - 1 for rewards, which use a small part of this. */
const GAS_LIMIT = 30_000_000n

/** Execution of blocks of Gnosis after the merge (gnosischain/specs: execution/posdao-post-merge.md, withdrawals.md;
 *  network-upgrades/london.md, pectra.md, balancer-recovery.md): the base fee goes to a collector, contracts get the
 *  withdrawals and say which balances the bridge adds to. */
export const gnosisExecution: FamilyExecution = {
  open: (spec, header) => new GnosisBlock(spec, header),
  appliesToSimulations: true,
  closingCalls: (spec, { header, withdrawals }) => [
    ...rewardCalls(spec, header),
    ...(withdrawals === undefined ? [] : withdrawalCalls(spec, withdrawals)),
  ],
  keepsSystemAccount: true,
}

class GnosisBlock implements FamilyBlockRules {
  readonly begin?: FamilyBlockRules['begin']
  private readonly collector: Uint8Array
  private readonly baseFee: bigint
  /** Wei of a blob that are collected and not burnt. */
  private readonly blobFee: bigint

  constructor(spec: ChainSpec, header: Header) {
    const { feeCollector, codeChanges } = spec.gnosis!
    const rules = rulesAt(spec, header.number, header.timestamp, spec.terminalTotalDifficulty)
    const { excessBlobGas, baseFeePerGas = 0n } = header
    this.collector = feeCollector
    this.baseFee = baseFeePerGas
    const collectsBlobs = rules.has('prague') && excessBlobGas !== undefined
    this.blobFee = collectsBlobs ? blobBaseFeeOf(excessBlobGas, rules) * GAS_PER_BLOB : 0n
    const due = codeChanges.filter((change) => isDue(change, header))
    if (due.length > 0) this.begin = (state) => setCodes(state, due)
  }

  forcedInclusion(): undefined {}

  feesOf({ blobVersionedHashes }: Transaction): AddedFees {
    const ofBlobs = this.blobFee * BigInt(blobVersionedHashes?.length ?? 0)
    const wei = (gasUsed: bigint) => gasUsed * this.baseFee + ofBlobs
    return { upfront: 0n, refund: () => 0n, payments: (gasUsed) => [{ address: this.collector, wei: wei(gasUsed) }] }
  }
}

// The slots of the first blocks of a fork may be empty. An account keeps its code, so that setting it again changes
// nothing.
const DUE_SECONDS = 3600n

/** True for the first blocks that have a change of code. */
function isDue({ timestamp }: CodeChange, header: Header): boolean {
  return header.timestamp >= timestamp && header.timestamp < timestamp + DUE_SECONDS
}

function setCodes(state: FamilyState, changes: readonly CodeChange[]): void {
  for (const { address, code } of changes) state.setCode(address, code)
}

/** The call that returns what the bridge adds to balances. */
function rewardCalls({ gnosis }: ChainSpec, { number, miner }: Header): ClosingCall[] {
  const contract = gnosis!.rewardContracts.findLast(({ block }) => block <= number)
  if (contract === undefined) return []
  const input = concatBytes(REWARD, encodeLists([[bytesToBigInt(miner)], [0n]]))
  const { address } = contract
  return [{ purpose: 'block rewards', address, input, gasLimit: GAS_LIMIT, payments: readRewards }]
}

/** The call that passes the withdrawals of a block to the deposit contract. */
function withdrawalCalls({ gnosis }: ChainSpec, withdrawals: readonly Withdrawal[]): ClosingCall[] {
  const address = gnosis!.withdrawalContract
  if (address === undefined) return []
  const amounts = withdrawals.map(({ amountGwei }) => amountGwei)
  const addresses = withdrawals.map((each) => bytesToBigInt(each.address))
  const input = concatBytes(WITHDRAWALS, encodeLists([amounts, addresses], [MAX_FAILED_WITHDRAWALS]))
  return [{ purpose: 'withdrawals', address, input, gasLimit: GAS_LIMIT }]
}

const word = (value: bigint) => bigIntToFixedBytes(value, WORD)

/** The ABI encoding of words and, after them, lists of words. */
function encodeLists(lists: readonly (readonly bigint[])[], first: readonly bigint[] = []): Uint8Array {
  const offsets: bigint[] = []
  let at = WORD * (first.length + lists.length)
  for (const list of lists) {
    offsets.push(BigInt(at))
    at += WORD * (1 + list.length)
  }
  const tails = lists.flatMap((list) => [BigInt(list.length), ...list])
  return concatBytes(...[...first, ...offsets, ...tails].map(word))
}

/** Reads two lists of the same length, of accounts and of amounts in wei; no output is two empty ones.
 *  @throws DecodeError */
function readRewards(output: Uint8Array): Payment[] {
  if (output.length === 0) return []
  const addresses = readWordList(output, 0, 'accounts')
  const amounts = readWordList(output, 1, 'amounts')
  if (addresses.length !== amounts.length) {
    throw new DecodeError('amounts', `expected as many as accounts, ${addresses.length}, got ${amounts.length}`)
  }
  return addresses.map((address, i) => ({ address: address.subarray(12), wei: bytesToBigInt(amounts[i]) }))
}
