import assert from 'node:assert/strict'
import { encodeBlockAccessList } from '../../../src/chain/eth/blockAccessList.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import type { UpstreamState } from '../../../src/sources/ethRpc/stateTypes.js'

/** The state of upstreams, served from a complete database. */
export type StateServer = Pick<UpstreamState, 'proofs' | 'codes' | 'executionWitness' | 'accessList'> & {
  /** How often each method was called. */
  readonly calls: { proofs: number; codes: number; witnesses: number }
}

/** Opens the database of a data directory as the state of an upstream. */
export async function openStateServer(t: { after(end: () => void): void }, datadir: string): Promise<StateServer> {
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => opened.close())
  const evm = await opened.loadEvm()
  const calls = { proofs: 0, codes: 0, witnesses: 0 }
  return {
    calls,
    proofs: async (requests, { number }) => {
      calls.proofs++
      return requests.map(({ address, slots }) => {
        const {
          exists,
          nonce,
          balance,
          codeHash,
          storageRoot,
          nodes,
          slots: proofs,
        } = evm.proveAccount({ address, slots }, number, noDeadline)
        return {
          ...{ address, slots, values: proofs.map(({ value }) => value) },
          account: exists ? { nonce, balance, codeHash, storageRoot } : undefined,
          nodes: [...nodes, ...proofs.flatMap((each) => each.nodes)],
        }
      })
    },
    codes: async (requests, { number }) => {
      calls.codes++
      return requests.map(({ address }) => opened.context.state.code(address, number))
    },
    accessList: async ({ header }) => {
      const list = evm.blockAccessList(header.number, noDeadline)
      return list && encodeBlockAccessList(list)
    },
    executionWitness: async ({ number }) => {
      calls.witnesses++
      const { state, codes } = evm.executionWitness(number, noDeadline)
      const refuse = (problem: string) => assert.fail(`block ${number}: ${problem}`)
      return { nodes: state, codes, upstream: 'complete', refuse }
    },
  }
}
