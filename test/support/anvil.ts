import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from './cairn.js'
import { temporaryDirectory } from './temporary.js'

const VERSION = '1.7.1'
const FOLDER = packagePath('build/anvil')
const PACKAGE = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`

/** The path of anvil, which is installed into a folder of its own when it is not there; undefined when it cannot be had. */
export function findAnvil(): string | undefined {
  const path = join(FOLDER, 'node_modules', PACKAGE, 'bin', 'anvil')
  if (existsSync(path)) return path
  mkdirSync(FOLDER, { recursive: true })
  const args = ['install', '--prefix', FOLDER, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...args, `${PACKAGE}@${VERSION}`], { stdio: 'ignore', timeout: 60_000 })
  return status === 0 && existsSync(path) ? path : undefined
}

/** A node that another one follows. */
export interface Node {
  readonly url: string
  readonly wsUrl: string
}

/** Starts anvil, ended with the test. */
export async function startAnvil(
  t: { after(callback: () => void | Promise<void>): void },
  path: string,
  args: readonly string[] = [],
): Promise<Node> {
  const cache = temporaryDirectory(t)
  const { child, ended, waitFor } = spawnProgram(path, ['--port', '0', '--cache-path', cache, ...args])
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [, address] = await waitFor('stdout', /Listening on (\S+)/)
  return { url: `http://${address}`, wsUrl: `ws://${address}` }
}
