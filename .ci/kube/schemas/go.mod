module backstop.invalid/ci/schemas

go 1.26
