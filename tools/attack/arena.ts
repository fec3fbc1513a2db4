import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMemory, resetPeak } from '../../bench/lib/memory.js'
import { createApiKeyTable } from '../../src/store/keys/apiKeys.js'
import { DATABASE_FILE, packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { type Ended, type Running, spawnProgram } from '../../test/support/cairn.js'
import { createChainBuilder } from '../fixture/chainBuilder.js'
import type { Target } from './attack.js'
import { createBombGenesis } from './bombs.js'
import { createMemoryGroup, type MemoryGroup } from './limitedProcess.js'

const BLOCKS = 20
const CLIENTS = 10

/** A chain to be attacked, and its clients' keys. */
export interface Arena {
  readonly directory: string
  readonly attackerKey: string
  readonly bystanderKey: string
  /** Of ten clients more. */
  readonly clientKeys: readonly string[]
  remove(): void
}

/** The attacked server. */
export interface AttackedServer {
  readonly target: Target
  /** The bystander's address. */
  readonly url: string
  /** Whether a control group enforces the memory limit. */
  readonly enforced: boolean
  /** Forgets the peak so far. */
  resetPeak(): void
  /** Most resident memory since `resetPeak`, in MB. */
  peakMb(): number | undefined
  /** How it ended by itself; undefined while it runs. */
  ended(): Ended | undefined
  /** Asks it to stop. */
  stop(): Promise<Ended>
}

/** Makes the chain: the genesis with the bombs and some empty blocks. */
export async function createArena(): Promise<Arena> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-attack-'))
  const db = openForWriting(directory)
  try {
    const builder = await createChainBuilder(db, createBombGenesis())
    for (let i = 0; i < BLOCKS; i++) await builder.add()
    const keys = createApiKeyTable(db)
    const names = ['attacker', 'bystander', ...Array.from({ length: CLIENTS }, (_, i) => `client ${i + 1}`)]
    const [attackerKey, bystanderKey, ...clientKeys] = names.map((name) => keys.create(name).key)
    db.pragma('wal_checkpoint(TRUNCATE)')
    const remove = () => rmSync(directory, { recursive: true, force: true })
    return { directory, attackerKey, bystanderKey, clientKeys, remove }
  } finally {
    db.close()
  }
}

/** The same chain in another directory. */
export function copyArena(arena: Arena, directory: string): Arena {
  copyFileSync(join(arena.directory, DATABASE_FILE), join(directory, DATABASE_FILE))
  return { ...arena, directory }
}

/** Serves the chain with the defaults of `cairn serve` but for `options`, in a control group with the limit where one
 *  can be made. */
export async function startAttacked(
  arena: Arena,
  limitBytes: number,
  options: readonly string[] = [],
): Promise<AttackedServer> {
  const group = createMemoryGroup(limitBytes)
  const args = [packagePath('dist/cli/main.js'), 'serve', '--port', '0', '--datadir', arena.directory, ...options]
  const command: [string, string[]] = group ? group.wrap(process.execPath, args) : [process.execPath, args]
  const running = spawnProgram(...command)
  const [, url] = await running.waitFor('stdout', /^ready (\S+)\n/)
  return describeServer(arena, { running, group, url })
}

function describeServer(
  arena: Arena,
  { running, group, url }: { running: Running; group: MemoryGroup | undefined; url: string },
): AttackedServer {
  const { hostname: host, port } = new URL(url)
  const pid = running.child.pid! // of the server itself: the shell that joins the group becomes it
  let ended: Ended | undefined
  void running.ended.then((end) => {
    ended = end
    group?.remove()
  })
  const { attackerKey, bystanderKey, clientKeys, directory } = arena
  return {
    target: {
      host,
      port: Number(port),
      path: `/v3/${attackerKey}`,
      socketPath: `/ws/v3/${attackerKey}`,
      sqlPath: `/sql/${attackerKey}`,
      clientPaths: clientKeys.map((key) => `/v3/${key}`),
      datadir: directory,
    },
    url: `${url}/v3/${bystanderKey}`,
    enforced: group !== undefined,
    resetPeak: () => resetPeak(pid),
    peakMb: () => readMemory(pid)?.peakRssMb,
    ended: () => ended,
    stop: () => {
      running.child.kill('SIGTERM')
      return running.ended
    },
  }
}
