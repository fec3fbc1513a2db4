import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { formatConfigurationPage } from '../src/cli/configurationPage.js'
import { formatManPage } from '../src/cli/manPage.js'
import { readExamples } from '../src/rpc/examples.js'
import { formatMethodsPages } from '../src/rpc/methodsPage.js'
import { packagePath } from '../src/store/open.js'
import { formatExportPage } from './datasetTables.js'
import { formatSizingPage } from './sizing/sizingPage.js'

rmSync(packagePath('docs/methods'), { recursive: true, force: true })
mkdirSync(packagePath('docs/methods'))
writeFileSync(packagePath('docs/configuration.md'), formatConfigurationPage())
mkdirSync(packagePath('docs/man'), { recursive: true })
writeFileSync(packagePath('docs/man/cairn.1'), formatManPage())
for (const [path, text] of formatMethodsPages(readExamples())) writeFileSync(packagePath(path), text)
writeFileSync(packagePath('docs/export.md'), formatExportPage())
writeFileSync(packagePath('docs/sizing.md'), formatSizingPage())
