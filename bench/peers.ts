import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { packagePath } from '../src/store/open.js'

const FOLDER = packagePath('bench/peers')

/** The path of an npm package of bench/peers/package.json, which are installed there when they are not: into that
 *  folder's own node_modules, without running their scripts.
 *  @throws Error when it cannot be had. */
export function requirePeerPackage(name: string): string {
  const path = join(FOLDER, 'node_modules', name)
  if (!existsSync(path)) {
    process.stderr.write(`installing ${name} and its like into ${FOLDER}\n`)
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
    const { status, error } = spawnSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`)
  }
  if (!existsSync(path)) {
    throw new Error(`${name} does not install on ${process.platform} ${process.arch}: leave its peer out of --peers`)
  }
  return path
}

/** What the module of an installed peer exports. */
export function loadPeerModule<T>(name: string): T {
  return createRequire(import.meta.url)(requirePeerPackage(name)) as T
}
