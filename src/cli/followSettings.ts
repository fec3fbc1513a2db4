import type { FollowSettings } from '../ingest/follow/runFollower.js'
import { UsageError } from '../lib/errors.js'
import type { Config } from './config.js'

/** What to follow, from the options. @throws UsageError for options that exclude each other and for a genesis file that cannot
 *  be read */
export async function readFollowSettings(config: Config): Promise<FollowSettings> {
  const { datadir, upstream, upstreamHeader, state, from, evm, stateCache, rootInterval, l2CoreContract } = config
  const headers = Object.fromEntries(upstreamHeader.map(({ name, value }) => [name, value]))
  return {
    datadir,
    upstreams: upstream.map((url) => ({ url, headers })),
    chain: await readChain(config),
    stateMode: state,
    from,
    evm,
    stateCacheBytes: stateCache * 2 ** 20,
    rootInterval,
    coreContract: l2CoreContract,
  }
}

async function readChain({ genesis, network }: Config): Promise<FollowSettings['chain']> {
  if (network === 'dev') return { development: true, ...(genesis !== undefined && (await readGenesis(genesis))) }
  if (genesis !== undefined && network !== undefined) throw new UsageError('--genesis and --network exclude each other')
  if (network !== undefined) return { network }
  return genesis === undefined ? undefined : readGenesis(genesis)
}

async function readGenesis(path: string): Promise<{ genesis: unknown }> {
  const { readGenesisFile } = await import('../ingest/importFiles.js')
  return readGenesisFile(path)
}
