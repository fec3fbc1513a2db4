import assert from 'node:assert/strict'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcLimits } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { STARKNET_METHODS } from '../../../src/rpc/starknet/methods.js'
import { type L2Database, openL2Database } from '../chains/l2.js'
import { temporaryDirectory } from '../temporary.js'

type After = { after(callback: () => void): void }
export type L2Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }

/** A layer-2 database that is written, and answers. */
export interface StarknetDatabase extends L2Database {
  /** The outcome of a method. */
  answer(name: string, params: unknown): Promise<L2Answer>
  /** Its result; fails the test for an error. */
  ask(name: string, params: unknown): Promise<unknown>
}

/** An empty database, closed when the test ends. */
export function openStarknet(t: After, limits: Partial<RpcLimits> = {}): StarknetDatabase {
  const datadir = temporaryDirectory(t)
  const database = openL2Database(datadir)
  const { context, close } = openContext({ datadir, limits: { ...DEFAULT_LIMITS, ...limits }, log: silentLogger })
  let isOpen = true
  const closeBoth = () => {
    if (isOpen) {
      close()
      database.close()
    }
    isOpen = false
  }
  t.after(closeBoth)
  const answer = async (name: string, params: unknown): Promise<L2Answer> => {
    const method = STARKNET_METHODS.find((candidate) => candidate.name === name)!
    const outcome = await runMethod(method, params, context)
    return 'error' in outcome ? outcome : { result: JSON.parse(Buffer.from(outcome.result).toString()) }
  }
  return {
    ...database,
    close: closeBoth,
    answer,
    ask: async (name, params) => {
      const outcome = await answer(name, params)
      assert.ok('result' in outcome, JSON.stringify(outcome))
      return outcome.result
    },
  }
}
