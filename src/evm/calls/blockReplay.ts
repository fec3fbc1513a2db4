import { keccak256 } from '../../chain/crypto.js'
import { type BlockAccessList, encodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { BLOOM_BYTES } from '../../chain/eth/bloom.js'
import type { Rules } from '../../chain/eth/forks.js'
import { equalBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import type { ChainReader, StoredBlock } from '../../store/chain/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { StateUnavailable } from '../errors.js'
import { createCodeObjects } from '../interpreter/code.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import { Journal } from '../interpreter/journal/journal.js'
import { Machine } from '../interpreter/machine.js'
import { createCodeCache, createStateProviders } from '../state/stateProvider.js'
import { runBlock } from '../transition/block.js'
import { requireHash } from '../transition/blockExecutor.js'
import { blockEnvironment } from '../transition/transaction.js'

/** A stored block was executed to another access list than its header says: the database is damaged. */
export class ReplayDiffers extends CairnError {
  constructor(blockNumber: number) {
    super(`block ${blockNumber}: its re-execution does not give the access list of its header`)
  }
}

/** What a replay works with. */
export interface BlockReplayParts {
  chain: ChainReader
  reader: StateReader
  tables(rules: Rules): ForkTables
}

/** Executes a stored block once more, on the state of its parent, and gives its access list (EIP-7928). Undefined for a block
 *  before Amsterdam. */
export type BlockReplay = (blockNumber: number, deadline: Deadline) => BlockAccessList | undefined

const CODE_BYTES = 8 * 2 ** 20
const NO_BLOOM = new Uint8Array(BLOOM_BYTES)

/** A replay over stored blocks and states. @throws StateUnavailable if the block or the state of its parent is not stored;
 *  DeadlineExceeded, ReplayDiffers */
export function createBlockReplay({ chain, reader, tables }: BlockReplayParts): BlockReplay {
  const codes = createCodeCache(reader, CODE_BYTES)
  const codeObjects = createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES)
  const blockHash = (number: number) => requireHash((at) => chain.blockHash(at), number)

  const replay = (stored: StoredBlock, deadline: Deadline): BlockAccessList => {
    const { header, hash, withdrawals, sizeBytes } = stored
    const spec = chain.spec()
    const rules = chain.rulesOf(stored)
    const own = tables(rules)
    const parent = createStateProviders(reader, { codes }).at(header.number - 1, header.parentHash)
    const journal = new Journal(parent, codeObjects)
    const environment = blockEnvironment(header, rules, { chainId: spec.chainId, blockHash })
    const machine = new Machine({ ...own, environment, state: journal, deadline })
    const refuse = (_index: number, _transaction: unknown, refused: Error) => refused
    const roots = { now: () => header.stateRoot, atEnd: () => undefined } // checked when the block was stored
    const context = { spec, machine, journal, blockHash, bloomOf: () => NO_BLOOM, roots, refuse }
    const uncles = chain.uncles(header.number)
    const block = { hash, header, transactions: chain.transactions(stored), uncles, withdrawals, sizeBytes }
    const { blockAccessList } = runBlock(context, block, { rules, tables: own })
    const computed = keccak256(encodeBlockAccessList(blockAccessList!))
    if (!equalBytes(computed, header.blockAccessListHash!)) throw new ReplayDiffers(header.number)
    return blockAccessList!
  }

  return (blockNumber, deadline) => {
    const stored = chain.blockByNumber(blockNumber)
    if (stored === undefined) throw new StateUnavailable(blockNumber)
    if (stored.header.blockAccessListHash === undefined) return undefined
    if (blockNumber === 0) return []
    const { stateFirst } = chain.coverage() ?? {}
    if (stateFirst === undefined || blockNumber <= stateFirst) throw new StateUnavailable(blockNumber - 1)
    return replay(stored, deadline)
  }
}
