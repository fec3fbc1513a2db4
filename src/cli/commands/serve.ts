import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { corsPolicy, isLoopback } from '../../server/cors.js'
import { hostPolicy } from '../../server/hosts.js'
import { defaultThreads } from '../../workers/readerPool.js'
import type { Config } from '../config.js'
import { readLimits } from '../limits.js'
import type { ParsedArgs } from '../parseArgs.js'
import { type Serving, startServing } from '../serving.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn serve`: returns when the server has stopped after SIGINT or SIGTERM. */
export async function runServe({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help serve'`)
  if (config.fixture === undefined) return serve(config, config.datadir, config.open)
  const datadir = mkdtempSync(join(tmpdir(), 'cairn-fixture-'))
  try {
    await importFixture(config, config.fixture, datadir)
    return await serve(config, datadir, true)
  } finally {
    rmSync(datadir, { recursive: true, force: true })
  }
}

/** Imports the files of a fixture directory. @throws UsageError when one is missing. */
async function importFixture(config: Config, fixture: string, datadir: string): Promise<void> {
  for (const name of ['genesis.json', 'chain.rlp']) {
    if (!existsSync(join(fixture, name))) throw new UsageError(`--fixture: no ${name} in ${fixture}`)
  }
  const { importFiles, readGenesisFile } = await import('../../ingest/importFiles.js')
  const { createL2Verifier } = await import('../../workers/l2Verifier.js')
  const l2 = join(fixture, 'l2.ndjson')
  const verifier = createL2Verifier()
  try {
    await importFiles({
      datadir,
      paths: [join(fixture, 'chain.rlp'), ...(existsSync(l2) ? [l2] : [])],
      chain: readGenesisFile(join(fixture, 'genesis.json')),
      stateMode: 'execute',
      l2Verify: config.l2Verify ? verifier.verify : undefined,
      l2Network: config.l2Network,
      evm: config.evm,
      log: createLogger(config.logLevel),
      showProgress: false,
    })
  } finally {
    await verifier.close()
  }
}

async function serve(config: Config, datadir: string, open: boolean): Promise<number> {
  const serving = await startServing({
    datadir,
    open,
    host: config.host,
    port: config.port,
    cors: corsPolicy(config.cors, { host: config.host, open }),
    hosts: hostPolicy(config.allowedHosts, config.host),
    compression: { mode: config.compress, aboveBytes: config.compressAbove * 1024 },
    responseCacheBytes: config.responseCache * 1024 * 1024,
    inlineCalls: config.inlineCalls,
    rateLimitRps: config.rateLimit,
    scanThreads: config.scanThreads ?? defaultThreads(),
    evmThreads: config.evmThreads ?? defaultThreads(),
    evm: config.evm,
    limits: readLimits(config),
    logLevel: config.logLevel,
    methodsModule: new URL('../../rpc/methods.js', import.meta.url).href,
  }).catch((error: unknown) => {
    throw explainListenError(error, config)
  })
  if (!serving.reachable) {
    process.stderr.write("there is no API key yet: make one with 'cairn keys create NAME', or serve with --open\n")
  }
  if (open && !isLoopback(config.host)) {
    process.stderr.write(`warning: everyone who reaches ${config.host} may ask this server, it takes no API keys\n`)
  }
  const stopped = stopOnSignal(serving)
  process.stdout.write(`ready ${serving.url}\n`)
  await stopped
  return 0
}

function explainListenError(error: unknown, { host, port }: Config): unknown {
  const { code } = error as { code?: string }
  if (code === 'EADDRINUSE')
    return new UsageError(`port ${port} is in use; choose another with --port or CAIRN_PORT; 0 takes a free one`)
  if (code === 'EACCES') return new UsageError(`port ${port} may not be opened by this user; choose one above 1023`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UsageError(`--host ${host} is not an address of this machine`)
  return error
}

/** Resolves when a signal came and the server has stopped. A second one ends the process at once. */
function stopOnSignal(serving: Serving): Promise<void> {
  const { signal } = listenForStop()
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => void serving.close().then(resolve, reject))
  })
}
