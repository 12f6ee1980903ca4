module github.com/gatehouse-ci/gatehouse

go 1.26.0
