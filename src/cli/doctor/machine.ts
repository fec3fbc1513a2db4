import { readFileSync } from 'node:fs'
import { packagePath } from '../../store/open.js'
import { OTHER_FILES, openFileLimit } from '../openFileLimit.js'
import { type Check, type Finding, fail, ok, runCheck, warn } from './check.js'

const AREA = 'machine'
/** Connections that a server should have files for: the default of --max-connections. */
const WANTED_CONNECTIONS = 10_000
const LEAST_CONNECTIONS = 64

/** Checks Node, native packages, WebAssembly and the limits of the process. Packages are loaded only by a Node that
 *  Cairn supports: an older one may crash. @param duckdb the folder of --duckdb */
export async function checkMachine({ duckdb }: { duckdb?: string }): Promise<Check[]> {
  const node = await runCheck({ area: AREA, check: 'Node' }, () => checkNode(process.versions.node, readRequiredNode()))
  const files = await runCheck({ area: AREA, check: 'open files' }, () => checkOpenFiles(openFileLimit()))
  if (node.result === 'fail') return [node, files]
  const addon = (check: string, run: () => Finding | Promise<Finding>, failed: (problem: string) => Finding) =>
    runCheck({ area: AREA, check }, run, failed)
  return [
    node,
    files,
    await addon('better-sqlite3', checkSqlite, (problem) =>
      fail(
        problem,
        "install the packages on this machine again, or run 'npm rebuild better-sqlite3 --build-from-source'",
      ),
    ),
    await addon('secp256k1', checkSecp256k1, (problem) =>
      warn(
        `the native build does not load: ${problem}`,
        "senders are recovered by a slower implementation; install the packages again or run 'npm rebuild secp256k1'",
      ),
    ),
    await addon('WebAssembly', checkWebAssembly, (problem) =>
      warn(
        problem,
        'JavaScript is used instead, which is slower; run Node without --jitless, on a processor with SIMD',
      ),
    ),
    await addon(
      'DuckDB',
      () => checkDuckDb(duckdb),
      (problem) => warn(problem, 'SQLite answers SQL; install @duckdb/node-api on this machine again'),
    ),
  ]
}

/** Compares a version of Node with what `engines` of package.json asks for, of the form `>=MAJOR.MINOR`. */
export function checkNode(version: string, required: string): Finding {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(required)?.map(Number) ?? []
  if (major === undefined) return warn(`${version}; cannot compare it with ${required}`, `use a Node of ${required}`)
  const [own, ownMinor] = version.split('.').map(Number)
  const isSupported = own > major || (own === major && ownMinor >= minor)
  if (isSupported) return ok(`${version} (${process.platform} ${process.arch})`)
  return fail(`${version}, Cairn needs ${required}`, "install a newer Node, or run Cairn with 'npx node@24'")
}

function readRequiredNode(): string {
  const { engines } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { engines: { node: string } }
  return engines.node
}

/** Judges an open-file limit by the connections of a server that it leaves. */
export function checkOpenFiles(limit: number): Finding {
  if (limit === Number.POSITIVE_INFINITY) return ok('no limit is known')
  const connections = Math.max(0, limit - OTHER_FILES)
  const found = `${limit.toLocaleString('en')}, enough for ${connections.toLocaleString('en')} connections`
  const remedy = `raise it: 'ulimit -Hn ${WANTED_CONNECTIONS + OTHER_FILES}', or LimitNOFILE= of the systemd unit`
  if (connections < LEAST_CONNECTIONS) return fail(found, remedy)
  return connections < WANTED_CONNECTIONS ? warn(found, `${remedy}; or serve fewer (--max-connections)`) : ok(found)
}

async function checkSqlite(): Promise<Finding> {
  const { default: SqliteDatabase } = await import('better-sqlite3')
  const { sqliteVersion } = await import('../../store/databaseFacts.js')
  const db = new SqliteDatabase(':memory:')
  try {
    return ok(`SQLite ${sqliteVersion(db)}`)
  } finally {
    db.close()
  }
}

async function checkSecp256k1(): Promise<Finding> {
  const { createSecp256k1 } = await import('../../chain/secp256k1.js')
  createSecp256k1('native')
  return ok('the native build loads')
}

/** Creates every module that Cairn assembles, and those of the packages. */
async function checkWebAssembly(): Promise<Finding> {
  const [{ createKeccak }, { createSecp256k1 }, { instantiate }] = await Promise.all([
    import('../../wasm/keccak.js'),
    import('../../chain/secp256k1.js'),
    import('../../wasm/assembler.js'),
  ])
  const { assembleGapFilter } = await import('../../wasm/gapFilterModule.js')
  const { assembleLogColumns } = await import('../../wasm/logColumnsModule.js')
  const { assembleLogJson } = await import('../../wasm/logJsonModule.js')
  const { assembleWasmCore } = await import('../../evm/interpreter/wasm/module.js')
  const modules: { readonly [name: string]: () => unknown } = {
    'Keccak-256': () => createKeccak('wasm'),
    secp256k1: () => createSecp256k1('wasm'),
    'gap filter': () => instantiate(assembleGapFilter()),
    'log columns': () => instantiate(assembleLogColumns()),
    'log JSON': () => instantiate(assembleLogJson()),
    interpreter: () => instantiate(assembleWasmCore()),
    zstd: async () => (await import('@bokuweb/zstd-wasm')).init(),
  }
  const failures: string[] = []
  for (const [name, create] of Object.entries(modules)) {
    try {
      await create()
    } catch (error) {
      failures.push(`${name} does not load: ${error instanceof Error ? error.message : error}`)
    }
  }
  if (failures.length > 0) throw new Error(failures.join('; '))
  return ok(`${Object.keys(modules).length} modules load`)
}

async function checkDuckDb(folder: string | undefined): Promise<Finding> {
  const { findDuckDb, loadDuckDb } = await import('../../sql/lake/loadDuckDb.js')
  const path = findDuckDb(folder)
  if (path === undefined) {
    if (folder === undefined) return ok('not installed: SQLite answers SQL')
    return warn(`not installed in ${folder}`, 'name the folder with its node_modules by --duckdb')
  }
  return ok(`DuckDB ${loadDuckDb(path).version()}`)
}
