import { createBloomMaker } from '../../chain/eth/bloom.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { noDeadline } from '../../lib/deadline.js'
import { InvalidTransaction } from '../errors.js'
import { createForkTables } from '../interpreter/allPrecompiles.js'
import { createCodeObjects } from '../interpreter/code.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import { Journal } from '../interpreter/journal/journal.js'
import { Machine } from '../interpreter/machine.js'
import { loadKzgVerifier } from '../interpreter/precompiles/kzg.js'
import type { EvmKind } from '../kinds.js'
import { createCodeCache, createNewestState, type NewestState } from '../state/stateProvider.js'
import { runBlock } from './block.js'
import {
  type BlockEngine,
  createExecutorOver,
  type Executor,
  type ExecutorParts,
  requireHash,
} from './blockExecutor.js'
import { callAtParent } from './parentCall.js'
import { requireReferenceRules } from './referenceRules.js'
import { blockEnvironment } from './transaction.js'

/** Creates an executor of that kind over the newest state. Does not load the other kind. @throws UsageError for the
 *  reference on a chain that it does not execute */
export async function loadExecutor(kind: EvmKind, parts: ExecutorParts): Promise<Executor> {
  const { reader, root, cacheBytes, spec } = parts
  if (kind === 'reference') {
    requireReferenceRules(spec)
    const { createReferenceExecutor } = await import('../reference/blockExecutor.js')
    return createReferenceExecutor(parts)
  }
  // Code is cached as interpreter objects; the provider's cache serves code hashes only.
  const codes = createCodeCache(reader, cacheBytes / 16)
  const newest = createNewestState(reader, { codes, maxBytes: (cacheBytes * 11) / 16 })
  const backing = parts.over?.(newest) ?? newest
  return createExecutorOver(createEngine(parts, backing), backing, root)
}

/** Creates an engine with Cairn's interpreter over a journal. */
function createEngine(parts: ExecutorParts, backing: NewestState): BlockEngine {
  const { spec, reader, blockHashes, cacheBytes, withCallees, withTraces } = parts
  const readCode = (hash: Uint8Array) => (parts.over ? backing.code(hash) : reader.codeByHash(hash))
  const codes = createCodeObjects(readCode, cacheBytes / 4)
  const journal = new Journal(backing, codes)
  const blockHash = (number: number) => requireHash(blockHashes, number)
  const bloomOf = createBloomMaker()
  let tables: ((rules: Rules) => ForkTables) | undefined
  let machine: Machine | undefined
  return {
    putGenesis: ({ accounts }) => {
      for (const account of accounts) journal.putAccount(account.address, account)
      journal.endTransaction(false)
    },
    run: async (block, rules, roots, parent) => {
      tables ??= createForkTables(await loadKzgVerifier())
      const own = tables(rules)
      if (machine === undefined) {
        const environment = blockEnvironment(block.header, rules, { chainId: spec.chainId, blockHash })
        machine = new Machine({ ...own, environment, state: journal, deadline: noDeadline })
      }
      const refuse = (index: number, { hash }: { hash: Uint8Array }, refused: { rule: string; detail: string }) =>
        new InvalidTransaction(index, hash, refused.rule, refused.detail)
      const context = { spec, journal, machine, blockHash, bloomOf, roots, withCallees, withTraces, refuse }
      const parentCall = parent && callAtParent(context, { header: block.header, parent, tables })
      return { ...runBlock(context, block, { rules, tables: own }), parentCall }
    },
    takeTouched: () => journal.takeTouched(),
    takeChanges: () => journal.takeChanges(),
    clear: () => journal.clear(),
  }
}
