import { parseHex } from '../../../../lib/hex.js'
import type { ChainSpec } from '../../forks/rules.js'
import { hashHeader } from '../../header.js'
import { InvalidBlock } from '../../invalidBlock.js'
import { encodeTransaction } from '../../transaction.js'
import type { Header, Transaction } from '../../types.js'
import type { AddedFees, FamilyBlockRules, FamilyExecution, FamilyState, ForcedInclusion } from '../execution.js'
import { CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE } from './create2Deployer.js'
import { DEPOSIT_TYPE } from './deposit.js'
import type { L1Attributes } from './l1Attributes.js'
import { l1FeeOf } from './l1Fees.js'
import { hasBaseFork, hasOpFork } from './opForks.js'

/* Predeploys, 20 bytes each. */
const L1_BLOCK = parseHex('0x4200000000000000000000000000000000000015')
const L2_TO_L1_MESSAGE_PASSER = parseHex('0x4200000000000000000000000000000000000016')
const BASE_FEE_VAULT = parseHex('0x4200000000000000000000000000000000000019')
const L1_FEE_VAULT = parseHex('0x420000000000000000000000000000000000001a')
const OPERATOR_FEE_VAULT = parseHex('0x420000000000000000000000000000000000001b')

/* Slots of L1Block, 32 bytes each. */
const slot = (index: number) => new Uint8Array(32).fill(index, 31)
const L1_BASE_FEE = slot(1)
const SCALARS = slot(3)
const OVERHEAD = slot(5)
const SCALAR = slot(6)
const BLOB_BASE_FEE = slot(7)
const OPERATOR_FEE = slot(8)

const NO_SYSTEM_TRANSACTIONS = { rule: 'system transaction', detail: 'none is allowed since Regolith' }

const MILLION = 1_000_000n
const UINT32 = 2n ** 32n - 1n
const UINT64 = 2n ** 64n - 1n

/** Execution of blocks of the OP stack (specs/protocol: deposits.md, exec-engine.md and those of the forks). */
export const opExecution: FamilyExecution = {
  open: (spec, header) => {
    if (hasBaseFork(spec, 'beryl', header.timestamp)) refuseBeryl(header)
    return new OpBlock(spec, header)
  },
  withdrawalsAccount: (spec, { timestamp }) =>
    hasOpFork(spec, 'isthmus', timestamp) ? L2_TO_L1_MESSAGE_PASSER : undefined,
  tracedAccounts: [BASE_FEE_VAULT],
}

/** Since Beryl, B20 tokens are precompiles of Base (docs.base.org/specifications/b20/architecture). @throws
 *  InvalidBlock */
function refuseBeryl(header: Header): never {
  throw new InvalidBlock({
    ...{ blockNumber: header.number, blockHash: hashHeader(header), check: 'fork' },
    detail: 'Beryl of Base, whose precompiles for B20 tokens Cairn does not have; --state none stores its blocks',
  })
}

/** The fees of a block, as L1Block has them after the block's deposits. */
interface BlockFees {
  readonly attributes: L1Attributes
  /** Returns the operator fee of an amount of gas in wei. */
  operatorFee(gas: bigint): bigint
}

class OpBlock implements FamilyBlockRules {
  readonly begin: FamilyBlockRules['begin']
  private readonly header: Header
  private readonly forks: { isRegolith: boolean; isEcotone: boolean; isFjord: boolean }
  private readonly hasOperatorFee: boolean
  private readonly isJovian: boolean
  private readonly regular: ForcedInclusion
  private fees: BlockFees | undefined

  constructor(spec: ChainSpec, header: Header) {
    const { timestamp } = header
    this.header = header
    const isRegolith = hasOpFork(spec, 'regolith', timestamp)
    this.forks = {
      isRegolith,
      isEcotone: hasOpFork(spec, 'ecotone', timestamp),
      isFjord: hasOpFork(spec, 'fjord', timestamp),
    }
    this.hasOperatorFee = hasOpFork(spec, 'isthmus', timestamp)
    this.isJovian = hasOpFork(spec, 'jovian', timestamp)
    const reportsNonce = hasOpFork(spec, 'canyon', timestamp)
    this.regular = { mint: 0n, isUncounted: false, reportsGas: isRegolith, reportsNonce }
    const isFirstOfCanyon = spec.op!.times.canyon === timestamp
    this.begin = isFirstOfCanyon ? (state) => state.setCode(CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE) : undefined
  }

  forcedInclusion({ type, deposit }: Transaction): ForcedInclusion | undefined {
    if (type !== DEPOSIT_TYPE) return undefined
    const { mint = 0n, isSystemTransaction } = deposit!
    if (!isSystemTransaction) return { ...this.regular, mint }
    const broken = this.forks.isRegolith ? NO_SYSTEM_TRANSACTIONS : undefined
    return { ...this.regular, mint, isUncounted: true, broken }
  }

  feesOf(transaction: Transaction, state: FamilyState): AddedFees {
    this.fees ??= this.readFees(state)
    const { attributes, operatorFee } = this.fees
    const { fee } = l1FeeOf(encodeTransaction(transaction), attributes, this.forks)
    const most = operatorFee(transaction.gasLimit)
    const { baseFeePerGas = 0n } = this.header
    return {
      upfront: fee + most,
      refund: (gasUsed) => most - operatorFee(gasUsed),
      payments: (gasUsed) => [
        { address: BASE_FEE_VAULT, wei: gasUsed * baseFeePerGas },
        { address: L1_FEE_VAULT, wei: fee },
        ...(this.hasOperatorFee ? [{ address: OPERATOR_FEE_VAULT, wei: operatorFee(gasUsed) }] : []),
      ],
    }
  }

  /** Reads the fees when the first transaction pays them: deposits before it set them. */
  private readFees(state: FamilyState): BlockFees {
    const read = (at: Uint8Array) => state.slot(L1_BLOCK, at)
    return { attributes: this.readAttributes(read), operatorFee: this.operatorFeeOf(read) }
  }

  private readAttributes(read: (slot: Uint8Array) => bigint): L1Attributes {
    const baseFee = read(L1_BASE_FEE)
    if (this.forks.isEcotone) {
      const scalars = read(SCALARS)
      const blobBaseFee = read(BLOB_BASE_FEE)
      const baseFeeScalar = (scalars >> 96n) & UINT32
      const blobBaseFeeScalar = (scalars >> 64n) & UINT32
      // The first block of Ecotone has fees of the form before.
      const isSet = blobBaseFee !== 0n || baseFeeScalar !== 0n || blobBaseFeeScalar !== 0n
      if (isSet) return { baseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar }
    }
    return { baseFee, overhead: read(OVERHEAD), scalar: read(SCALAR) }
  }

  private operatorFeeOf(read: (slot: Uint8Array) => bigint): (gas: bigint) => bigint {
    if (!this.hasOperatorFee) return () => 0n
    const parameters = read(OPERATOR_FEE)
    const scalar = (parameters >> 64n) & UINT32
    const constant = parameters & UINT64
    if (this.isJovian) return (gas) => gas * scalar * 100n + constant
    return (gas) => (gas * scalar) / MILLION + constant
  }
}
