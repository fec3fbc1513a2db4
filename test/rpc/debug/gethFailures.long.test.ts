import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { edgeProgram } from '../../support/chains/edgePrograms.js'
import { createForkGenesis } from '../../support/chains/forkGenesis.js'
import { writeGenesisChain } from '../../support/chains/genesisChain.js'
import { callMethod } from '../../support/compare/traces.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { ask } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { SKIP_GETH, serveWithGeth } from '../../support/upstream/geth.js'

/* Programs that fail in every way, beside geth: prices and errors of their last instructions, and the errors of their
 * calls. */

const PROGRAMS = Number(process.env.PROGRAMS ?? (THOROUGH ? 100 : 12))
const SEED = Number(process.env.SEED ?? 1)

const FORKS: readonly Fork[] = [
  ...(['frontier', 'homestead', 'tangerineWhistle', 'spuriousDragon', 'byzantium', 'constantinople'] as const),
  ...(['petersburg', 'istanbul', 'berlin', 'london', 'shanghai', 'cancun', 'prague', 'osaka', 'amsterdam'] as const),
  'bogota',
]

const CONFIGS: readonly object[] = [
  {},
  { tracer: 'callTracer' },
  { tracer: 'flatCallTracer', tracerConfig: { convertParityErrors: true } },
  { tracer: 'prestateTracer' },
  { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
]

const addressOf = (byte: string) => `0x${'00'.repeat(19)}${byte}`
const [FROM, TARGET, CALLER, DEPLOYED] = ['aa', 'c0', 'c1', 'cc'].map(addressOf)
const ACCOUNTS = {
  [FROM]: { balance: '0xde0b6b3a7640000' },
  [DEPLOYED]: { balance: '0x0', nonce: '0x1', code: '0x60016000f3' },
}

/** A call of an edge program, at once or from a contract by CALL, STATICCALL or DELEGATECALL with little or all of the
 *  gas. */
function edgeCall(random: SeededRandom): { call: object; overrides: object } {
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]
  const code = `0x${edgeProgram(random)}`
  const op = pick(['f1', 'fa', 'f4'])
  const value = op === 'f1' ? pick(['6000', '6007']) : ''
  const caller = `0x6000600060006000${value}60c0${pick(['5a', '612710', '6103e8'])}${op}5000`
  const to = pick([CALLER, TARGET])
  return {
    call: { from: FROM, to, gas: pick(['0xc350', '0x186a0', '0x7a120', '0x5500', '0x5a00']) },
    overrides: { [TARGET]: { code, balance: pick(['0x0', '0x64']) }, [CALLER]: { code: caller, balance: '0x100' } },
  }
}

/** Accounts that geth's differences show only without a code hash: they exist neither before nor after. */
const ABSENT = /"0x[0-9a-f]{40}":\{"codeHash":"0x0{64}"\},?/g
const withoutAbsent = (text: string) => text.replace(ABSENT, '').replaceAll(',}', '}')

for (const fork of FORKS) {
  test(`failures of ${fork} have the prices and words of geth`, { skip: SKIP_GETH }, async (t) => {
    const genesis = createForkGenesis(fork, ACCOUNTS)
    const file = join(temporaryDirectory(t), 'genesis.json')
    writeFileSync(file, JSON.stringify(genesis))
    const url = await serveWithGeth(t, { datadir: temporaryDirectory(t), genesis: file })
    const datadir = await writeGenesisChain(t, genesis)
    const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    t.after(close)
    const own = (method: string, params: unknown[]) =>
      callMethod<unknown>(context, method, params).then(
        (result) => JSON.stringify(result),
        (error: Error) => error.message.replace(/^\w+: -?\d+ /, ''),
      )
    const theirs = async (method: string, params: unknown[]) => {
      const { result, error } = await ask(url, method, params)
      return error === undefined ? withoutAbsent(JSON.stringify(result)) : error.message
    }
    const random = seededRandom(SEED)
    for (let i = 0; i < PROGRAMS; i++) {
      const { call, overrides } = edgeCall(random)
      const traces = CONFIGS.map((config) => [
        'debug_traceCall',
        [call, 'latest', { ...config, stateOverrides: overrides }],
      ])
      const requests = [...traces, ['eth_call', [call, 'latest', overrides]]] as [string, unknown[]][]
      for (const [method, params] of requests) {
        assert.equal(await own(method, params), await theirs(method, params), JSON.stringify(params))
      }
    }
  })
}
