import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { packagePath } from '../../src/store/open.js'
import { findFoundry } from '../../test/support/upstream/foundry.js'

const FOLDER = packagePath('bench/peers')

/** Returns what a package of bench/peers/package.json exports. They are installed when they are not: into that folder's
 *  own node_modules, without running their scripts. @throws Error when that fails */
export function loadPeerModule<T>(name: string): T {
  const path = join(FOLDER, 'node_modules', name)
  if (!existsSync(path)) {
    process.stderr.write(`installing ${name} and its like into ${FOLDER}\n`)
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
    const { status, error } = spawnSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`)
  }
  return createRequire(import.meta.url)(path) as T
}

/** The path of anvil, which is installed when it is not there. @throws Error when it cannot be had */
export function requireAnvil(): string {
  const path = findFoundry('anvil')
  if (path === undefined) throw new Error('anvil cannot be installed')
  return path
}
