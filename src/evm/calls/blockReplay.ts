import { keccak256 } from '../../chain/crypto.js'
import { type BlockAccessList, encodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { BLOOM_BYTES } from '../../chain/eth/bloom.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { encodeHeader } from '../../chain/eth/header.js'
import { compareBytes, equalBytes, keyOfBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import { hasStateBefore } from '../../store/rows/coverage.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { StateUnavailable } from '../errors.js'
import { type Code, type CodeObjects, codeBytes, createCodeObjects } from '../interpreter/code.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import { Journal } from '../interpreter/journal/journal.js'
import { Machine } from '../interpreter/machine.js'
import type { PastTries } from '../state/pastTries.js'
import { createReplayState } from '../state/replayState.js'
import { type CodeCache, createCodeCache, createStateProviders } from '../state/stateProvider.js'
import { runBlock } from '../transition/block.js'
import { requireHash } from '../transition/blockExecutor.js'
import { blockEnvironment } from '../transition/transaction.js'

/** Re-execution produced an access list that the header does not commit to: the database is damaged. */
export class ReplayDiffers extends CairnError {
  constructor(blockNumber: number) {
    super(`block ${blockNumber}: its re-execution does not give the access list of its header`)
  }
}

/** Dependencies of a replay. */
export interface BlockReplayParts {
  chain: ChainReader
  reader: StateReader
  tables(rules: Rules): ForkTables
  tries: PastTries
}

const CODE_BYTES = 8 * 2 ** 20
const NO_BLOOM = new Uint8Array(BLOOM_BYTES)

/** Everything that re-executing a block without other state needs, as execution-specs define it (EIP-8025,
 *  `build_execution_witness`). Each item once; all but the headers sorted by their bytes. */
export interface BlockWitness {
  /** RLP of nodes of the parent's state trie and storage tries. */
  state: Uint8Array[]
  /** Code that accounts have in the parent's state and that the block runs or reads. */
  codes: Uint8Array[]
  /** Addresses (20 bytes) and slots (32) whose hashes are the keys of the tries. */
  keys: Uint8Array[]
  /** RLP of headers in order, up to the parent: down to the earliest whose hash the block reads. */
  headers: Uint8Array[]
}

/** Re-executes stored blocks on the states of their parents. Its methods throw StateUnavailable if the block or the
 *  state of its parent is not stored, and DeadlineExceeded. */
export class BlockReplay {
  private readonly chain: ChainReader
  private readonly reader: StateReader
  private readonly tables: (rules: Rules) => ForkTables
  private readonly tries: PastTries
  private readonly codes: CodeCache
  private readonly codeObjects: CodeObjects

  constructor({ chain, reader, tables, tries }: BlockReplayParts) {
    this.chain = chain
    this.reader = reader
    this.tables = tables
    this.tries = tries
    this.codes = createCodeCache(reader, CODE_BYTES)
    this.codeObjects = createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES)
  }

  /** Returns the block's access list (EIP-7928); undefined before Amsterdam. @throws ReplayDiffers */
  accessList(blockNumber: number, deadline: Deadline): BlockAccessList | undefined {
    const stored = this.requireBlock(blockNumber)
    const { blockAccessListHash } = stored.header
    if (blockAccessListHash === undefined) return undefined
    if (blockNumber === 0) return []
    this.requireParent(blockNumber)
    const { blockAccessList } = this.replay(stored, deadline).outcome
    const computed = keccak256(encodeBlockAccessList(blockAccessList!))
    if (!equalBytes(computed, blockAccessListHash)) throw new ReplayDiffers(blockNumber)
    return blockAccessList!
  }

  /** Returns the block's witness. @throws PastTrieTooFar; MissingTrieNode if a partial trie lacks one of its nodes */
  witness(blockNumber: number, deadline: Deadline): BlockWitness {
    const stored = this.requireBlock(blockNumber)
    const parent = this.requireParent(blockNumber)
    const trie = this.tries.after(parent, deadline)
    const loaded = new Map<string, Uint8Array>()
    let oldest = parent.header.number
    const { journal, rules } = this.replay(stored, deadline, {
      onCode: (hash, code) => void loaded.set(keyOfBytes(hash), codeBytes(code)),
      onBlockHash: (number) => {
        oldest = Math.min(oldest, number)
      },
      recordsAccesses: true,
    })
    const accesses = journal.accesses({
      // Before Byzantium each transaction has a root, and a later transaction may set what an earlier one deletes.
      isFinal: rules.eip658,
      // Since EIP-7928 a transaction may end before it accesses its recipient.
      called: rules.eip7928 ? [] : this.chain.transactions(stored).flatMap(({ to }) => to ?? []),
    })
    const headers: Uint8Array[] = []
    for (let number = oldest; number < blockNumber; number++)
      headers.push(encodeHeader(this.requireBlock(number).header))
    const keys = accesses.flatMap(({ address, slots }) => [address, ...slots.map(({ slot }) => slot)])
    return {
      state: trie.witness(accesses).sort(compareBytes),
      codes: [...loaded.values()].sort(compareBytes),
      keys: [...new Map(keys.map((key) => [keyOfBytes(key), key])).values()].sort(compareBytes),
      headers,
    }
  }

  private replay(stored: StoredBlock, deadline: Deadline, watched: Partial<Watched> = {}) {
    const { header, hash, withdrawals, sizeBytes } = stored
    const spec = this.chain.spec()
    const rules = this.chain.rulesOf(stored)
    const own = this.tables(rules)
    const before = createStateProviders(this.reader, { codes: this.codes }).at(header.number - 1, header.parentHash)
    const parent = createReplayState(before, { blockNumber: header.number, rules })
    const codes: CodeObjects = {
      get: (hash) => {
        const code = this.codeObjects.get(hash)
        // Whoever executes the block has the code that it writes.
        if (!journal.wroteCode(hash)) watched.onCode?.(hash, code)
        return code
      },
    }
    const journal = new Journal(parent, codes)
    const blockHash = (number: number) => {
      watched.onBlockHash?.(number)
      return requireHash((at) => this.chain.ancestorHash(at), number)
    }
    const environment = blockEnvironment(header, rules, { chainId: spec.chainId, blockHash })
    const machine = new Machine({ ...own, environment, state: journal, deadline })
    const refuse = (_index: number, _transaction: unknown, refused: Error) => refused
    const roots = { now: () => header.stateRoot, atEnd: () => undefined } // checked when the block was stored
    const { recordsAccesses } = watched
    const context = { spec, machine, journal, blockHash, bloomOf: () => NO_BLOOM, roots, refuse, recordsAccesses }
    const uncles = this.chain.uncles(header.number)
    const block = { hash, header, transactions: this.chain.transactions(stored), uncles, withdrawals, sizeBytes }
    return { journal, rules, outcome: runBlock(context, block, { rules, tables: own }) }
  }

  /** Returns the block. @throws StateUnavailable if it or the state of its parent is not stored. */
  private requireBlock(blockNumber: number): StoredBlock {
    const stored = this.chain.blockByNumber(blockNumber)
    if (stored === undefined) throw new StateUnavailable(blockNumber)
    return stored
  }

  private requireParent(blockNumber: number): StoredBlock {
    if (!hasStateBefore(this.chain.coverage(), blockNumber)) throw new StateUnavailable(blockNumber - 1)
    return this.requireBlock(blockNumber - 1)
  }
}

/** Reads of a replay that its caller observes. */
interface Watched {
  /** Code of an account in the parent's state. */
  onCode(hash: Uint8Array, code: Code): void
  onBlockHash(number: number): void
  recordsAccesses: boolean
}
