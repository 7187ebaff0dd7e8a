from csan import main

main()
