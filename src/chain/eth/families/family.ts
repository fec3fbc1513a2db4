import type { ChainSpec, Rules } from '../forks/rules.js'
import type { Refuse } from '../invalidBlock.js'
import type { RlpInput } from '../rlp.js'
import type { Block, Header, Transaction } from '../types.js'
import type { AddedMembers } from './addedType.js'
import type { FamilyExecution } from './execution.js'
import type { EarlierHeader } from './headerFold.js'
import type { FamilyName } from './name.js'

export type {
  AddedFees,
  CallOutput,
  ClosingCall,
  FamilyBlockRules,
  FamilyExecution,
  FamilyState,
  ForcedInclusion,
  ParentCall,
  Payment,
} from './execution.js'
export type { EarlierHeader } from './headerFold.js'

/** What a rule of a header is checked against. */
export interface HeaderContext {
  readonly parent: Header
  readonly rules: Rules
  readonly spec: ChainSpec
  /** Headers before the parent, as far as they are available. */
  readonly earlier: EarlierHeader
  readonly refuse: Refuse
}

/** The parts of a block that a family's rules read. */
export type BlockBody = Pick<Block, 'header' | 'transactions' | 'withdrawals'>

/** Returns the members that JSON-RPC adds to the receipt of a transaction. */
export type ReceiptMembers = (transaction: Transaction) => AddedMembers

/** A member of a genesis file's `config`; integers of any size are bigints. */
export type ConfigValue = bigint | boolean | string | readonly ConfigValue[] | { readonly [name: string]: ConfigValue }

/** Everything that differs between families of chains whose blocks have Ethereum's form. Code outside of this folder
 *  asks the family of a chain and never compares its name. */
export interface Family {
  readonly name: FamilyName
  /** As messages name its chains. */
  readonly title: string
  /** The options that choose it, for messages. */
  readonly chosenBy: string
  /** Why its built-in networks are not executed from block 0, for messages. Absent: for want of its state. */
  readonly notFromGenesis?: string
  /** `own` if its consensus clients speak a form of the Engine API that Cairn does not, `none` if it has no such
   *  clients. Absent: they speak that of Ethereum. */
  readonly engineApi?: 'own' | 'none'
  /** How its blocks are executed, where that differs from Ethereum. */
  readonly execution?: FamilyExecution
  /** Types of transactions that its blocks may contain, as far as their fork knows them. */
  readonly transactionTypes: readonly number[]
  /** False if a block may change the gas limit by any amount. */
  boundsGasLimit(spec: ChainSpec): boolean
  /** True if headers may lack the fields of forks by time, as those of Besu before 26.1. Default: false. */
  readonly mayLackForkFields?: boolean
  /** True if a block with that header, which is verified, can never be replaced. `isExecuted`: so is the output of
   *  `FamilyExecution.parentCall`. Default: false. */
  sealsAreFinal?(header: Header, isExecuted: boolean): boolean
  /** True for a header whose form is that of the family and of no other, for messages about blocks of other chains.
   *  Absent: other families have headers of the same form. */
  recognises?(header: Header): boolean
  /** True if the block hash is that of the header's RLP. */
  readonly hashesWholeHeader: boolean
  /** True if block 0 has fields that Cairn does not decode: its hash is then compared as a node reports it. Default:
   *  false. */
  readonly hasOtherGenesis?: boolean
  /** Returns the block hash, 32 bytes: that of the header's RLP, or of a part of it. */
  hashHeader(header: Header): Uint8Array
  /** Returns the fields of a header in the order of its RLP, those that `Header` does not have included. */
  encodedFields(header: Header): RlpInput[]
  /** Returns what JSON-RPC adds to a block object for such fields. */
  blockMembers?(header: Header): AddedMembers
  /** Returns the base fee in wei of the block after `parent`, at time `timestamp` (Unix seconds), from London on. */
  nextBaseFee(parent: Header, timestamp: bigint, spec: ChainSpec): bigint
  /** Returns the excess blob gas of the block after `parent`, from Cancun on. */
  nextExcessBlobGas(parent: Header, rules: Rules): bigint
  /** Checks the fields of a header whose rules differ: extra data, difficulty and seal, blob gas, requests hash.
   *  @throws InvalidBlock */
  verifyHeader(header: Header, context: HeaderContext): void
  /** Returns the withdrawals root that the body of a block commits to, 32 bytes: undefined before Shanghai. */
  withdrawalsRoot(block: BlockBody): Uint8Array | undefined
  /** Returns the blob gas that the header of a block must have, from Cancun on. @throws InvalidBlock */
  blobGasUsed(block: BlockBody, spec: ChainSpec, refuse: Refuse): bigint
  /** Returns the blob gas that the header of a simulated block has; undefined for that of its blobs. `first` is the
   *  first transaction of the stored block below it. */
  simulatedBlobGas?(block: BlockBody, first: Transaction | undefined, spec: ChainSpec): bigint | undefined
  /** Checks the parts of a block whose rules no other family has. @throws InvalidBlock */
  verifyBody?(block: BlockBody, spec: ChainSpec, refuse: Refuse): void
  /** Returns what JSON-RPC adds to the receipts of a block, computed from its first transaction; undefined for
   *  nothing. */
  receiptMembers?(spec: ChainSpec, header: Header, first: Transaction | undefined): ReceiptMembers | undefined
  /** Members of a genesis `config` that schedule forks of the family. */
  readonly forkKeys?: readonly string[]
  /** Reads the family's part of a genesis `config`; undefined for a chain of another family. @throws InvalidGenesis */
  readConfig?(config: { readonly [key: string]: unknown }): Partial<ChainSpec> | undefined
  /** Returns the members of a genesis `config` from which `readConfig` reads the same. */
  formatConfig?(spec: ChainSpec): { readonly [key: string]: ConfigValue }
}
