import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../src/store/open.js'

const INSTALL = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1']
const TIMEOUT_MS = 120_000

/** The folder of a package that tests run as a program. It is installed into a folder of its own below build/ when it
 *  is not there; undefined when it cannot be had. */
export function installPackage(name: string, version: string): string | undefined {
  const folder = packagePath(`build/npm/${name.replaceAll('/', '-')}-${version}`)
  const installed = join(folder, 'node_modules', name)
  if (existsSync(installed)) return installed
  // Test files that run at the same time install it each, and one of them has its folder renamed.
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  const args = [...INSTALL, '--prefix', own, `${name}@${version}`]
  const { status } = spawnSync('npm', args, { stdio: 'ignore', timeout: TIMEOUT_MS })
  if (status === 0 && !existsSync(folder)) renameIfAbsent(own, folder)
  rmSync(own, { recursive: true, force: true })
  return existsSync(installed) ? installed : undefined
}

function renameIfAbsent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}
