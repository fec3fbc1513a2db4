import type { Header } from '../types.js'

/** One instruction: opcode, name in the Yellow Paper or the introducing EIP in capitals, pops, pushes, and constant gas
 *  (Yellow Paper, appendix H). Dynamic gas is charged where the instruction is executed. */
export type InstructionRow = readonly [opcode: number, mnemonic: string, pops: number, pushes: number, gas: number]

/** A header field that a fork appends to the RLP list. */
export interface HeaderField {
  readonly name: Exclude<keyof Header, 'number'>
  /** As messages name it. */
  readonly label: string
  /** A fixed length in bytes, or an integer of at most that many. */
  readonly type: 'fixed' | 'uint'
  readonly bytes: number
  /** Value in a block without content, and in block 0 unless its file has the member. */
  readonly empty: Uint8Array | bigint
  /** Whether a genesis file may set it. Default false. */
  readonly inGenesis?: boolean
}

/** A system call before the first transaction. `input` is the header field that it passes. */
export interface SystemCall {
  readonly address: Uint8Array // 20
  readonly input: 'parentBeaconBlockRoot' | 'parentHash'
}

/** Blob parameters of a fork (EIP-7840): `target` and `max` are counts of blobs. */
export interface BlobSchedule {
  target: number
  max: number
  baseFeeUpdateFraction: bigint
  /** Lowest price of a unit of blob gas in wei. Default: 1 (EIP-4844). */
  minBaseFee?: bigint
}

/** SSTORE prices (EIP-1283, 2200, 2929, 3529, 8038). `net`: net gas metering. */
export interface StoragePrices {
  readonly net: boolean
  /** EIP-2200: out of gas if at most this much gas is left. -1: not checked. */
  readonly sentry: number
  readonly noChange: number
  readonly set: number
  readonly reset: number
  readonly clearRefund: number
  /** EIP-2929: surcharge of the first access in a transaction. */
  readonly cold: number
  /** EIP-8037: state gas of a new slot. Zero before Amsterdam. */
  readonly stateGas: number
}

/** Prices and switches that forks change. A switch is named after its EIP. */
export interface ForkParameters {
  /* Blocks. */

  /** Adjustment of the difficulty under proof of work (EIP-2, EIP-100). */
  readonly difficulty: 'frontier' | 'homestead' | 'byzantium'
  /** Number of blocks by which the difficulty bomb is delayed. */
  readonly bombDelay: number
  /** Ether for a block under proof of work. */
  readonly blockReward: bigint
  /** Receipts have a status instead of a state root. */
  readonly eip658: boolean
  /** Base fee. */
  readonly eip1559: boolean
  /** Withdrawals. */
  readonly eip4895: boolean
  /** Blobs. */
  readonly eip4844: boolean
  /** Requests of the execution layer. */
  readonly eip7685: boolean
  /** The excess blob gas depends on the base fee. */
  readonly eip7918: boolean
  /** The size of a block is limited. */
  readonly eip7934: boolean
  /** Blocks have access lists. */
  readonly eip7928: boolean
  /** Blocks have slot numbers. */
  readonly eip7843: boolean

  /* Transactions. */

  /** Highest type of a transaction. */
  readonly maxTransactionType: number
  /** EIP-2: the lower half of s alone; a creation that cannot pay for its code fails. */
  readonly eip2: boolean
  /** Signatures with a chain id. */
  readonly eip155: boolean
  /** Intrinsic gas of a creation. */
  readonly creationGas: number
  /** Intrinsic gas of a byte of data that is not zero (EIP-2028). */
  readonly nonZeroByteGas: number
  /** Minimum gas of a zero byte of data; others count four times (EIP-7623). Zero: no minimum. */
  readonly floorByteGas: number
  /** Intrinsic gas by what a transaction does (EIP-2780, 7976, 7981). */
  readonly eip2780: boolean
  /** A refund is at most the gas used, divided by this (EIP-3529). */
  readonly refundQuotient: bigint
  /** The gas limit of a transaction is limited. */
  readonly eip7825: boolean
  /** The blobs of a transaction are limited. */
  readonly eip7594: boolean
  /** Set-code delegations (EIP-7702). */
  readonly delegations: boolean
  /** EIP-3651. */
  readonly warmCoinbase: boolean

  /* The interpreter. */

  readonly storage: StoragePrices
  readonly expByteGas: number
  /** EIP-150: a call gets at most all but one 64th of the gas, and that much if it requests more. */
  readonly eip150: boolean
  readonly eip161: boolean
  /** EIP-170: maximum code size. Infinite before. */
  readonly maxCodeSize: number
  /** EIP-3860: maximum init code size, and gas per word of it. Infinite and zero before. */
  readonly maxInitCodeSize: number
  readonly initCodeWordGas: number
  readonly eip2929: boolean
  /** Code must not begin with 0xef. */
  readonly eip3541: boolean
  /** EIP-6780: SELFDESTRUCT deletes only accounts created in the same transaction. */
  readonly keepsOldDestructed: boolean
  readonly destructRefund: number
  /** EIP-150, EIP-8038: gas for a SELFDESTRUCT that creates an account. */
  readonly destructNewAccountGas: number
  /** EIP-2929, EIP-8038: gas of the first access to an account in a transaction. */
  readonly coldAccountGas: number
  /** Gas of a CALL with value, and of one that creates an account (Yellow Paper, EIP-8038). */
  readonly callValueGas: number
  readonly callNewAccountGas: number
  /** Gas of contract code per byte, and per word of 32 bytes (Yellow Paper, EIP-8037). */
  readonly codeByteGas: number
  readonly codeWordGas: number
  /** EIP-7610: a contract cannot be created at an address with storage. */
  readonly eip7610: boolean
  /** EIP-7708: transfers of ether are logged. */
  readonly eip7708: boolean
  /** EIP-8037: state gas of instructions, in addition to execution gas. */
  readonly eip8037: boolean
  /** The rest of EIP-8037 and EIP-2780: state gas for creations and for what transactions create, and refunds for
   *  failed calls. False at Bogota without Amsterdam. */
  readonly eip8037Full: boolean
  /** EIP-8246: SELFDESTRUCT burns nothing. */
  readonly eip8246: boolean

  /* Precompiles. */

  /** Rules of the price of MODEXP: of EIP-198, 2565 or 7883. */
  readonly modexpPricing: 198 | 2565 | 7883
  /** Bytes that each number of a MODEXP may have (EIP-7823). */
  readonly modexpMaxLength: number
  /** Prices of bn254 of EIP-1108. */
  readonly eip1108: boolean
  /** Price of P256VERIFY (EIP-7951, RIP-7212). */
  readonly p256VerifyGas: number
  /** Bytes that the input of a precompile may have, by address; absent for one without a maximum. */
  readonly precompileMaxInputs: { readonly [address: number]: number }
}

/** Lists that forks append to. */
export interface ForkLists {
  readonly headerFields: readonly HeaderField[]
  /** Later rows replace earlier ones of the same opcode. */
  readonly instructions: readonly InstructionRow[]
  /** Addresses and their names in `eth_config` (EIP-7910). */
  readonly precompiles: readonly (readonly [address: number, name: string])[]
  readonly systemCalls: readonly SystemCall[]
  /** Contracts called for requests at the end of a block, ordered by request type, from 1 on: 20 bytes each. */
  readonly requestContracts: readonly Uint8Array[]
  /** Names in `eth_config` (EIP-7910) and addresses, 20 bytes each; undefined for the deposit contract, which the chain
   *  names. */
  readonly systemContracts: readonly (readonly [name: string, address: Uint8Array | undefined])[]
}

/** The parameters that a fork changes. */
export type ParameterChanges = Partial<Omit<ForkParameters, 'storage'>> & { readonly storage?: Partial<StoragePrices> }

/** What a fork adds to the one before. */
export interface ForkDefinition<Name extends string = string> extends Partial<ForkLists> {
  readonly name: Name
  /** Members of geth's genesis `config` that activate it: `...Block` by number, `...Time` by time. */
  readonly keys?: readonly string[]
  /** Times on built-in networks (Unix seconds) that the package of networks lacks. */
  readonly networkTimes?: { readonly [network: string]: bigint }
  /** A chain with a later fork may omit this one. Default false. */
  readonly isOptional?: boolean
  readonly blobs?: BlobSchedule
  readonly parameters?: ParameterChanges
}

/** Registers what the fork `name` adds. */
export function defineFork<const Name extends string>(
  name: Name,
  parts: Omit<ForkDefinition, 'name'> = {},
): ForkDefinition<Name> {
  return { name, ...parts }
}
